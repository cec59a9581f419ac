"""How fast a pool of 50 drains 10,000 no-op actions, beside raw DuckDB doing them one by one.

Run it from the root of the repository: `python tests/benchmarks/bench_actions.py`. Each writes to a
file of its own in one temporary folder. Read the ratio; the figures are this machine's.
"""

import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter

import anyio
import duckdb

sys.path.insert(0, str(Path(__file__).parents[2]))

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.workpool import Workpool

JOBS = 10_000
SLOTS = 50
RAW_JOBS = 1_000
GOAL = 10


def raw_jobs_per_s(path: Path) -> float:
    """Jobs a second in raw DuckDB, a transaction to claim each and a transaction to end it."""
    connection = duckdb.connect(str(path))
    connection.execute(
        "CREATE TABLE jobs (id BIGINT, args VARCHAR, state VARCHAR, attempt INTEGER, "
        "started_at TIMESTAMPTZ, finished_at TIMESTAMPTZ, result VARCHAR)"
    )
    connection.execute(
        "INSERT INTO jobs SELECT range, '{}', 'pending', 0, NULL, NULL, NULL FROM range($jobs)",
        {"jobs": RAW_JOBS},
    )
    began_s = perf_counter()
    for _ in range(RAW_JOBS):
        job = _claim(connection)
        connection.execute(
            "UPDATE jobs SET state = 'succeeded', finished_at = $now, result = 'null' "
            "WHERE id = $job",
            {"job": job, "now": datetime.now(UTC)},
        )
    took_s = perf_counter() - began_s
    connection.close()
    return RAW_JOBS / took_s


def _claim(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute(
        "UPDATE jobs SET state = 'running', attempt = attempt + 1, started_at = $now "
        "WHERE id = (SELECT min(id) FROM jobs WHERE state = 'pending') RETURNING id",
        {"now": datetime.now(UTC)},
    ).fetchone()
    if row is None:
        raise RuntimeError("no job is pending")
    return int(row[0])


def app_on(path: Path) -> RxFerrix:
    """An app with one pool, paused, and the functions that fill it."""
    app = RxFerrix(path, interactive=False)
    app.workpool(Workpool("bench", 0))

    @app.action
    async def nothing(_ctx: ActionCtx, _number: int) -> None:
        return None

    @app.mutation
    def fill(ctx: MutationCtx) -> list[JobId]:
        calls = ((number,) for number in range(JOBS))
        return ctx.scheduler.pool("bench").enqueue_many(nothing, calls)

    return app


async def drained_jobs_per_s(path: Path) -> tuple[float, float]:
    """Jobs a second through the pool until the last end is recorded, and the commits of each."""
    app = app_on(path)
    async with app:
        jobs: list[JobId] = await app.run_mutation("fill")
        writer = app._runtime.engine.writer  # pyright: ignore[reportPrivateUsage]  # counts commits
        commits_before, began_s = writer.commits, perf_counter()
        app.resize_pool("bench", SLOTS)
        for job in jobs[-SLOTS:]:  # jobs begin in order, so all others have ended before
            await app.wait(job)
        took_s = perf_counter() - began_s
        return JOBS / took_s, (writer.commits - commits_before) / JOBS


def main() -> None:
    """Print one line for each way, and the ratio."""
    with tempfile.TemporaryDirectory() as folder:
        raw = raw_jobs_per_s(Path(folder, "raw.duckdb"))
        ours, commits = anyio.run(drained_jobs_per_s, Path(folder, "app.duckdb"))
    print_row("raw DuckDB, claim and end one by one", raw, 2.0)
    print_row(f"a pool of {SLOTS} slots", ours, commits)
    print(f"ratio {ours / raw:.1f} (goal: {GOAL})")


def print_row(name: str, jobs_per_s: float, commits_per_job: float) -> None:
    """Print one way of doing it."""
    print(f"{name:<40}{jobs_per_s:>9,.0f} jobs/s {commits_per_job:>9.4f} commits per job")


if __name__ == "__main__":
    main()
