"""Contract 3.4: a clean stop, with a tiny grace, since it takes real time."""

import threading
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.to_thread
import duckdb
import pytest

from rxferrix_lab import (
    ActionCtx,
    JobId,
    MutationCtx,
    RxFerrix,
    SyncActionCtx,
    Workpool,
    WorkResult,
)

NOW = timedelta(0)
HOUR = timedelta(hours=1)


def _short_work() -> None:
    threading.Event().wait(0.005)


class Stopping:
    """An app in a thread of its own, with gates for its actions."""

    def __init__(self, path: Path) -> None:
        self.app = RxFerrix(path, grace=timedelta(milliseconds=200))
        self.began = threading.Event()
        self.go_on = threading.Event()
        self.app.table("notes", "text VARCHAR")
        self.app.workpool(Workpool("pool", max_parallelism=2))

        @self.app.mutation
        def write(ctx: MutationCtx, text: str) -> None:
            ctx.db.insert("notes", {"text": text})

        @self.app.mutation
        def ended(ctx: MutationCtx, work: JobId, text: str, result: WorkResult[None]) -> None:
            ctx.db.insert("notes", {"text": f"{text} {type(result).__name__}"})

        @self.app.action
        async def until_told(ctx: ActionCtx) -> str:
            self.began.set()
            await ctx.canceled()
            await ctx.run_mutation(write, "written in the grace")
            await ctx.scheduler.run_after(HOUR, write, "scheduled in the grace")
            return "done"

        @self.app.action
        async def never_asks(ctx: ActionCtx) -> str:
            self.began.set()
            await anyio.sleep(0.05)  # noqa: TID251  # real work that ends within the grace
            return "ended by itself"

        @self.app.action
        async def ignores(ctx: ActionCtx) -> None:
            self.began.set()
            await anyio.sleep_forever()

        @self.app.action
        def ignores_in_a_thread(ctx: SyncActionCtx) -> None:
            self.began.set()
            self.go_on.wait()

        @self.app.action
        async def looks_again_and_again(ctx: ActionCtx) -> str:
            self.began.set()
            while not ctx.is_canceled():
                await anyio.to_thread.run_sync(_short_work)
            return "stopped"

        @self.app.mutation
        def queue_three(ctx: MutationCtx) -> JobId:
            ctx.scheduler.pool("pool").enqueue(until_told)
            ctx.scheduler.pool("pool").enqueue(ignores)
            return ctx.scheduler.pool("pool").enqueue(never_asks)

        self.write, self.ended, self.queue_three = write, ended, queue_three
        self.until_told, self.never_asks, self.ignores = until_told, never_asks, ignores
        self.ignores_in_a_thread = ignores_in_a_thread
        self.looks_again_and_again = looks_again_and_again

    def run_until_stopped(self, *names: str) -> list[JobId]:
        """Start, begin the actions of these names, stop, and start again to look."""
        self.app.start()
        jobs: list[JobId] = []

        async def schedule() -> None:
            for name in names:
                pool = self.app.scheduler.pool("pool").on_complete(self.ended, name)
                jobs.append(await pool.enqueue(getattr(self, name)))

        anyio.run(schedule)
        self.began.wait(10)
        self.app.stop()
        self.app.start()
        return jobs

    def notes(self) -> set[str]:
        return set(self.app.sql("SELECT text FROM notes")["text"])


@pytest.fixture
def stopping(tmp_path: Path) -> Generator[Stopping, None, None]:
    made = Stopping(tmp_path / "app.duckdb")
    yield made
    made.go_on.set()
    made.app.stop()


class TestCleanStop:
    """3.4"""

    @pytest.mark.parametrize("name", ["until_told", "looks_again_and_again"])
    def test_what_was_told_is_failed_as_interrupted(self, stopping: Stopping, name: str) -> None:
        (job,) = stopping.run_until_stopped(name)

        found = stopping.app.job(job)
        assert found.state == "failed"
        assert found.error is not None
        assert found.error.kind == "interrupted"

    def test_mutations_and_scheduling_still_work_in_the_grace(self, stopping: Stopping) -> None:
        stopping.run_until_stopped("until_told")

        assert "written in the grace" in stopping.notes()
        assert "write" in set(stopping.app.jobs(state="pending")["function"])

    def test_what_ends_by_itself_and_never_asked_ends_as_it_says(self, stopping: Stopping) -> None:
        (job,) = stopping.run_until_stopped("never_asks")

        assert stopping.app.job(job).state == "succeeded"
        assert stopping.app.job(job).result == "ended by itself"

    @pytest.mark.parametrize("name", ["ignores", "ignores_in_a_thread"])
    def test_what_outlives_the_grace_is_aborted(self, stopping: Stopping, name: str) -> None:
        (job,) = stopping.run_until_stopped(name)

        found = stopping.app.job(job)
        assert found.state == "failed"
        assert found.error is not None
        assert found.error.kind == "interrupted"

    def test_nothing_more_is_claimed(self, stopping: Stopping) -> None:
        stopping.app.start()
        queued = stopping.app.call(stopping.queue_three)
        stopping.began.wait(10)
        stopping.app.stop()

        with duckdb.connect(str(stopping.app.database), read_only=True) as connection:
            query = "SELECT state, attempt FROM _scheduled_jobs WHERE id = $id"
            found = connection.execute(query, {"id": queued}).fetchall()
        assert found == [("pending", 0)]

    def test_the_completion_of_what_was_stopped_runs_at_the_next_start(
        self, stopping: Stopping
    ) -> None:
        (job,) = stopping.run_until_stopped("ignores")
        completion = stopping.app.job(job).completion
        assert completion is not None

        anyio.run(stopping.app.wait, completion)

        assert "ignores Failed" in stopping.notes()
