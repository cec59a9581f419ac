"""The app that the benchmarks run: one small mutation, and one that schedules it many times."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from rxferrix_lab import JobId, Mutation, MutationCtx, Query, QueryCtx, RxFerrix

AT_A_TIME = 10_000


class Workload:
    """An app over a database file; nothing runs until it is started."""

    def __init__(self, path: Path) -> None:
        self.app = RxFerrix(path)
        self.app.table("notes", "text VARCHAR")
        self.note: Mutation[[], None] = self.app.mutation(note)
        self.enqueue_one: Mutation[[datetime], JobId] = self.app.mutation(self._enqueue_one)
        self._count: Query[[], int] = self.app.query(unfinished)
        self._enqueue_many = self.app.mutation(self._schedule)

    def enqueue(self, jobs: int, due: datetime) -> None:
        """Schedule so many notes, some thousands a transaction. The app must be running."""
        for begun in range(0, jobs, AT_A_TIME):
            self.app.call(self._enqueue_many, min(jobs - begun, AT_A_TIME), due)

    def unfinished(self) -> int:
        """How many jobs have not ended."""
        return self.app.call(self._count)

    def _enqueue_one(self, ctx: MutationCtx, due: datetime) -> JobId:
        return ctx.scheduler.run_at(due, self.note)

    def _schedule(self, ctx: MutationCtx, jobs: int, due: datetime) -> None:
        for _ in range(jobs):
            ctx.scheduler.run_at(due, self.note)


def note(ctx: MutationCtx) -> None:
    """Insert one row."""
    ctx.db.insert("notes", {"text": "a note"})


def unfinished(ctx: QueryCtx) -> int:
    """Count the jobs that have not ended."""
    count: int = ctx.db.sql(
        "SELECT count(*) FROM _scheduled_jobs WHERE finished_at IS NULL"
    ).scalar()
    return count


@contextmanager
def workload() -> Generator[Workload]:
    """An app over a new file in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield Workload(Path(folder) / "app.duckdb")


@contextmanager
def running(load: Workload) -> Generator[None]:
    """The app in its own thread, until the block ends."""
    load.app.start()
    try:
        yield
    finally:
        load.app.stop()


def now() -> datetime:
    """The machine's time."""
    return datetime.now(UTC)


def far_off() -> datetime:
    """Beyond all that a benchmark runs."""
    return now() + timedelta(days=300)
