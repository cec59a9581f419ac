"""A program whose actions wait until they are stopped, for the tests of contract 4."""

from datetime import timedelta
from typing import Any, ParamSpec

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx, QueryCtx
from rxferrix_lab.app.functions import Schedulable
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.testing import TestApp

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
GRACE = timedelta(seconds=5)
MOMENT = timedelta(microseconds=1)
HOUR = timedelta(hours=1)
P = ParamSpec("P")

app = RxFerrix(interactive=False)
app.table("notes", "text VARCHAR")
app.workpool(Workpool("one", 1))

told: list[str] = []  # what the actions of the running test told


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text})


@app.query
def notes(ctx: QueryCtx) -> list[str]:
    return [text for (text,) in ctx.db.sql("SELECT text FROM notes ORDER BY id").fetchall()]


@app.action
async def sleeper(ctx: ActionCtx) -> None:
    await ctx.sleep(HOUR)


@app.action
async def polite(ctx: ActionCtx) -> str:
    await ctx.canceled()
    return "stopped"


async def started(
    t: TestApp, fn: Schedulable[P, Any], /, *args: P.args, **kwargs: P.kwargs
) -> JobId:
    """A job of the action, running."""
    job = await t.scheduler.run_after(NOW, fn, *args, **kwargs)
    await t.run_due_jobs()
    assert t.job(job).state == "running"
    return job
