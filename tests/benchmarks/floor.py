"""The floor of every benchmark here: raw DuckDB doing the same writes, in the same run.

The same rows go into the same tables: a user's row, a job's completion and its log row, one
transaction at a time and one transaction per 256 jobs. Both are durable, and written as one would
who knows DuckDB: statements while the rows are few, appenders when they are many.
"""

import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from time import perf_counter, process_time

import duckdb

from rxferrix_lab import storage

GROUP = 256
DUE = datetime(2026, 1, 1, tzinfo=UTC)
JOB = (
    *("id", "function", "kind", "args", "state", "trigger", "scheduled_for", "due_at"),
    *("created_at", "attempt", "max_attempts", "missed", "revision"),
)
ENDED = ("state", "started_at", "finished_at", "attempt", "result", "revision")
LOG = (
    *("id", "job", "function", "kind", "caller", "attempt", "started_at", "finished_at"),
    *("outcome",),
)


@dataclass(frozen=True, slots=True)
class Speed:
    """How many jobs a second, and the processor time that each took."""

    per_s: float
    cpu_us: float


Floor = tuple[Speed, Speed]  # one transaction a job, one transaction per 256 jobs


class RawDuckDB:
    """A database file with jobs in it, and no scheduler."""

    def __init__(self, folder: Path) -> None:
        self._connection = duckdb.connect(str(folder / "raw.duckdb"), config={"threads": 1})
        self._connection.execute("SET checkpoint_threshold = '256MB'")
        self._connection.execute(files(storage).joinpath("schema.sql").read_text())
        self._connection.execute("CREATE TABLE notes (id BIGINT NOT NULL, text VARCHAR)")

    def close(self) -> None:
        """Give the file back."""
        self._connection.close()

    def enqueue_one_by_one(self, jobs: Sequence[int]) -> None:
        """One transaction for each job."""
        for job in jobs:
            self._connection.execute(insert("_scheduled_jobs", JOB), pending(job))

    def enqueue_in_groups(self, jobs: Sequence[int]) -> None:
        """One transaction for each 256 jobs."""
        for group in groups(jobs):
            with self._transaction():
                self._append("_scheduled_jobs", JOB, [pending(job) for job in group])

    def run_one_by_one(self, jobs: Sequence[int]) -> None:
        """One transaction for each job: its row, its completion, its log row."""
        run = self._connection.execute
        changes = ", ".join(f"{name} = ?" for name in ENDED)
        for job in jobs:
            with self._transaction():
                run("INSERT INTO notes VALUES (?, 'a note')", [job])
                run(f"UPDATE _scheduled_jobs SET {changes} WHERE id = ?", [*ended(), job])
                run(insert("_execution_log", LOG), logged(job))

    def run_in_groups(self, jobs: Sequence[int]) -> None:
        """The same with one transaction for each 256 jobs."""
        for group in groups(jobs):
            with self._transaction():
                self._append("notes", ("id", "text"), [(job, "a note") for job in group])
                self._update([(job, *ended()) for job in group])
                self._append("_execution_log", LOG, [logged(job) for job in group])

    @contextmanager
    def _transaction(self) -> Generator[None]:
        self._connection.execute("BEGIN TRANSACTION")
        yield
        self._connection.execute("COMMIT")

    def _append(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        appender = self._connection.appender(table, columns=list(columns), action="insert")
        appender.append_rows(rows)
        appender.flush()

    def _update(self, rows: Sequence[Sequence[object]]) -> None:
        appender = self._connection.appender(
            "_scheduled_jobs", columns=["id", *ENDED], action="update", key=["id"]
        )
        appender.append_rows(rows)
        appender.flush()


def insert(table: str, columns: Sequence[str]) -> str:
    """A statement for one row."""
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def pending(job: int) -> tuple[object, ...]:
    """The row of a job that waits."""
    return (job, "note", "mutation", "{}", "pending", "user", DUE, DUE, DUE, 0, 1, 0, 1)


def ended() -> tuple[object, ...]:
    """What the end of a job changes in its row."""
    return ("succeeded", DUE, DUE, 1, "null", 2)


def logged(job: int) -> tuple[object, ...]:
    """The log row of a job."""
    return (job, job, "note", "mutation", "scheduler", 1, DUE, DUE, "succeeded")


def groups(jobs: Sequence[int]) -> Iterator[Sequence[int]]:
    """The jobs, 256 at a time."""
    return (jobs[at : at + GROUP] for at in range(0, len(jobs), GROUP))


class Stopwatch:
    """Measures from its making; all threads of the process count."""

    def __init__(self) -> None:
        self._began_s = perf_counter()
        self._cpu_began_s = process_time()

    def speed(self, jobs: int) -> Speed:
        """What so many jobs took until now."""
        cpu_s = process_time() - self._cpu_began_s
        return Speed(jobs / (perf_counter() - self._began_s), cpu_s / jobs * 1e6)


def measured(work: Callable[[Sequence[int]], None], jobs: Sequence[int]) -> Speed:
    """How fast the work gets through the jobs."""
    watch = Stopwatch()
    work(jobs)
    return watch.speed(len(jobs))


@contextmanager
def raw_duckdb(pending: int = 0) -> Generator[RawDuckDB]:
    """A raw database in a temporary folder, with jobs numbered from 0 in it."""
    with tempfile.TemporaryDirectory() as folder:
        raw = RawDuckDB(Path(folder))
        raw.enqueue_in_groups(range(pending))
        yield raw
        raw.close()


def run_floor(jobs: int) -> Floor:
    """Jobs run a second with as many pending: one by one, and in groups of 256."""
    with raw_duckdb(jobs) as raw:
        one_by_one = measured(raw.run_one_by_one, range(500))
        return one_by_one, measured(raw.run_in_groups, range(500, jobs))


def enqueue_floor(jobs: int) -> Floor:
    """Jobs enqueued a second: one by one, and in groups of 256."""
    with raw_duckdb() as raw:
        one_by_one = measured(raw.enqueue_one_by_one, range(500))
        return one_by_one, measured(raw.enqueue_in_groups, range(500, jobs))


def better(one: Floor, other: Floor) -> Floor:
    """The better of two measurements, before and after: a neighbour's noise must not help us."""
    singly, grouped = (
        max(pair, key=lambda speed: speed.per_s) for pair in zip(one, other, strict=True)
    )
    return singly, grouped


def print_row(name: str, *cells: str) -> None:
    """One line of a table."""
    print(f"{name:<44}" + "".join(f"{cell:>16}" for cell in cells))


def print_speed(name: str, speed: Speed, floor: Floor) -> None:
    """A rate, its ratios to the two floors, and the processor time of a job."""
    singly, grouped = floor
    ratios = f"{speed.per_s / singly.per_s:.1f}", f"{speed.per_s / grouped.per_s:.2f}"
    print_row(name, f"{speed.per_s:,.0f}/s", *ratios, f"{speed.cpu_us:.0f}")


def print_floor(floor: Floor) -> None:
    """The head of a table of rates: the floors themselves."""
    singly, grouped = floor
    print_row("", "rate", "of one by one", "of groups", "CPU µs a job")
    print_speed("raw DuckDB, one transaction a job", singly, floor)
    print_speed(f"raw DuckDB, one transaction per {GROUP}", grouped, floor)
