"""A process that is killed again and again: two pools that are never idle, with cancellations.

Writes one line to a file beside the database when the body of an action begins and when it ends,
each with one write(2), which a killed process has done or has not.
"""

import os
import random
import sys
from datetime import timedelta
from pathlib import Path

import anyio

from rxferrix_lab import ActionCtx, JobId, MutationCtx, RxFerrix, Workpool, WorkResult

POOLS = {"wide": 5, "narrow": 1}
PLAIN = 3
MILLISECOND = timedelta(milliseconds=1)
BATCH = 20


def make_app(folder: Path) -> RxFerrix:
    """The app of the worker, and of the parent that looks at what is left."""
    app = RxFerrix(folder / "app.duckdb", grace=10 * MILLISECOND, parallelism=PLAIN)
    app.table("told", "work BIGINT, outcome VARCHAR")
    for name, slots in POOLS.items():
        app.workpool(Workpool(name, max_parallelism=slots, retries=1))

    @app.mutation(internal=True)
    def told(ctx: MutationCtx, work: JobId, context: str, result: WorkResult[str]) -> None:
        ctx.db.insert("told", {"work": work, "outcome": type(result).__name__.lower()})

    @app.action
    async def work(ctx: ActionCtx, pool: str, sleep_ms: int, luck: float) -> str:
        write_line(folder, f"begin {pool} {ctx.job_id} {ctx.attempt}")
        try:
            await ctx.sleep(sleep_ms * MILLISECOND)
            if luck < 0.2:
                raise ValueError("bad luck")
        finally:
            write_line(folder, f"end {pool} {ctx.job_id} {ctx.attempt}")
        return "done"

    @app.mutation
    def fill(ctx: MutationCtx, pool: str) -> list[JobId]:
        chosen = ctx.scheduler.pool(pool).on_complete(told, pool)
        calls = [(pool, ctx.random.randrange(20), ctx.random.random()) for _ in range(BATCH)]
        return chosen.enqueue_many(work, calls)

    @app.mutation
    def fill_plain(ctx: MutationCtx) -> list[JobId]:
        calls = [(ctx.random.randrange(20), ctx.random.random()) for _ in range(BATCH)]
        return [ctx.scheduler.run_after(timedelta(0), work, "plain", *call) for call in calls]

    return app


def write_line(folder: Path, line: str) -> None:
    """Append a line for good."""
    descriptor = os.open(folder / "lines", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


async def load(app: RxFerrix, folder: Path, pool: str, rng: random.Random) -> None:
    """Keep a pool busy, and cancel some of what it holds."""
    while True:
        arguments = (pool,) if pool else ()
        jobs: list[JobId] = await app.run_mutation("fill" if pool else "fill_plain", *arguments)
        for job in rng.sample(jobs, 5):
            if await app.scheduler.cancel(job):
                write_line(folder, f"canceled {pool or 'plain'} {job} 0")
        await app.wait(jobs[-BATCH // 2])


async def main(folder: Path, seed: int) -> None:
    """Run until the process is killed."""
    app = make_app(folder)
    write_line(folder, f"start process {seed} 0")  # before anything can begin
    async with app, anyio.create_task_group() as tasks:
        write_line(folder, f"up process {seed} 0")
        for pool in (*POOLS, ""):
            tasks.start_soon(load, app, folder, pool, random.Random(f"{seed}:{pool}"))


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]))
