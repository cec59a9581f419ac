"""A process that is killed again and again: an app under a mixed load.

Prints one line for each job whose scheduling was acknowledged, flushed, so that what the parent has
read is what a user could have relied on. Writes the first line of each action to a file beside the
database, before anything else the action does.
"""

import os
import random
import sys
from datetime import timedelta
from pathlib import Path

import anyio

from rxferrix_lab import ActionCtx, JobId, MutationCtx, RxFerrix, Workpool, WorkResult

NOW = timedelta(0)
MILLISECOND = timedelta(milliseconds=1)


def make_app(folder: Path) -> RxFerrix:
    """The app of the worker, and of the parent that looks at what is left."""
    app = RxFerrix(folder / "app.duckdb", grace=20 * MILLISECOND)
    app.table("effects", "token VARCHAR, part BIGINT")
    app.table("completions", "work BIGINT, outcome VARCHAR")
    app.workpool(Workpool("pool", max_parallelism=4, retries=2))

    @app.mutation
    def write(ctx: MutationCtx, token: str) -> None:
        for part in range(3):
            ctx.db.insert("effects", {"token": token, "part": part})

    @app.mutation(internal=True)
    def completed(ctx: MutationCtx, work: JobId, context: str, result: WorkResult[str]) -> None:
        ctx.db.insert("completions", {"work": work, "outcome": type(result).__name__})

    @app.action
    async def act(ctx: ActionCtx, sleep_ms: int, luck: float) -> str:
        note_start(folder, f"{ctx.job_id} {ctx.attempt}")
        await ctx.sleep(sleep_ms * MILLISECOND)
        if luck < 0.3:
            raise ValueError("bad luck")
        return "done"

    @app.mutation
    def enqueue(ctx: MutationCtx, sleep_ms: int, luck: float) -> JobId:
        pool = ctx.scheduler.pool("pool").on_complete(completed, "")
        return pool.enqueue(act, sleep_ms, luck)

    @app.mutation
    def schedule_write(ctx: MutationCtx, delay_ms: int, token: str) -> JobId:
        return ctx.scheduler.run_after(delay_ms * MILLISECOND, write, token)

    return app


def note_start(folder: Path, line: str) -> None:
    """Append a line for good: a killed process loses nothing that write(2) has taken."""
    descriptor = os.open(folder / "starts", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        os.write(descriptor, f"{line}\n".encode())
    finally:
        os.close(descriptor)


def acknowledge(kind: str, job: JobId) -> None:
    """Tell the parent that this job was promised."""
    sys.stdout.write(f"{kind} {job}\n")
    sys.stdout.flush()


async def load(app: RxFerrix, rng: random.Random) -> None:
    """Schedule, enqueue and cancel until the process is killed."""
    jobs: list[JobId] = []
    while True:
        token = f"{rng.getrandbits(64):016x}"
        job: JobId = await app.run_mutation("schedule_write", rng.randrange(60), token)
        acknowledge("mutation", job)
        jobs.append(job)
        pooled: JobId = await app.run_mutation("enqueue", rng.randrange(40), rng.random())
        acknowledge("action", pooled)
        jobs.append(pooled)
        if rng.random() < 0.3:
            await app.scheduler.cancel(rng.choice(jobs[-20:]))


async def main(folder: Path, seed: int, says_when_it_starts: str) -> None:
    """Run the load from a few tasks at once."""
    app = make_app(folder)
    if says_when_it_starts:
        sys.stdout.write(f"{says_when_it_starts}\n")
        sys.stdout.flush()
    async with app, anyio.create_task_group() as tasks:
        for number in range(3):
            tasks.start_soon(load, app, random.Random(f"{seed}:{number}"))


if __name__ == "__main__":
    anyio.run(main, Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
