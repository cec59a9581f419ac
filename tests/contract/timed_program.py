"""A program with a bit of everything that takes time, for the tests of virtual time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb

from rxferrix_lab import (
    ActionCtx,
    JobId,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    TestApp,
    Workpool,
    WorkResult,
)

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)

app = RxFerrix()
app.table("notes", "text VARCHAR, noted_at TIMESTAMPTZ")
app.workpool(Workpool("pool", max_parallelism=3, retries=2))


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text, "noted_at": ctx.now()})


@app.mutation
def draw(ctx: MutationCtx) -> None:
    ctx.db.insert("notes", {"text": str(ctx.random.random()), "noted_at": ctx.now()})


@app.mutation
def chain(ctx: MutationCtx, links: int) -> None:
    ctx.db.insert("notes", {"text": f"link {links}", "noted_at": ctx.now()})
    if links:
        ctx.scheduler.run_after(NOW, chain, links - 1)


@app.mutation
def forever(ctx: MutationCtx) -> None:
    ctx.scheduler.run_after(NOW, forever)


@app.query
def notes(ctx: QueryCtx) -> list[str]:
    return [text for (text,) in ctx.db.sql("SELECT text FROM notes ORDER BY id").fetchall()]


@app.mutation(internal=True)
def done(ctx: MutationCtx, work: JobId, text: str, result: WorkResult[None]) -> None:
    ctx.db.insert("notes", {"text": f"{text} {type(result).__name__}", "noted_at": ctx.now()})


@app.action
async def nap(ctx: ActionCtx, text: str, seconds: float) -> None:
    await ctx.run_mutation(note, f"{text} sleeps")
    await ctx.sleep(timedelta(seconds=seconds))
    await ctx.run_mutation(note, f"{text} wakes")


@app.action
def nap_in_a_thread(ctx: SyncActionCtx, text: str, seconds: float) -> None:
    ctx.run_mutation(note, f"{text} sleeps")
    ctx.sleep(timedelta(seconds=seconds))
    ctx.run_mutation(note, f"{text} wakes")


@app.action
async def until_canceled(ctx: ActionCtx, text: str) -> None:
    await ctx.canceled()
    with ctx.cleanup():
        await ctx.run_mutation(note, f"{text} tidies up")


@app.action
async def fail_twice(ctx: ActionCtx) -> None:
    if ctx.attempt < 3:
        await ctx.run_mutation(draw)
        raise ValueError(f"attempt {ctx.attempt}")


@app.action
async def stubborn(ctx: ActionCtx) -> None:
    while True:
        await ctx.sleep(7 * HOUR)


@app.mutation
def cancel_all(ctx: MutationCtx) -> None:
    ctx.scheduler.cancel_pool("pool")


app.cron_tz("daily", "0 30 2 * * *", "Europe/Bucharest", note, "daily")
app.interval("hourly", HOUR, note, "hourly")


# The same functions without the crons, for tests that count what happens.
bare = RxFerrix()
bare.table("notes", "text VARCHAR, noted_at TIMESTAMPTZ")
bare.workpool(Workpool("pool", max_parallelism=3, retries=2))
for registered in tuple(app.registry.functions.values()):
    bare.registry.add_function(registered)


async def at(t: TestApp) -> list[tuple[str, timedelta]]:
    """Each note with when it was written, from the start."""
    frame = t.sql("SELECT text, noted_at FROM notes ORDER BY id")
    return [(text, when.to_pydatetime() - START) for text, when in frame.itertuples(index=False)]


def tables(t: TestApp) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, the scheduler's own included."""

    def look(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[Any, ...]]]:
        names = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        return {
            name: connection.execute(f'SELECT * FROM "{name}" ORDER BY ALL').fetchall()
            for (name,) in names
        }

    return t.runtime.engine.store.read(look)


def without_revision(name: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows without the number of the commit, which depends on how many there were."""
    return [row[:-1] for row in rows] if name == "_scheduled_jobs" else rows
