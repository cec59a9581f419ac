"""Contract 4.3, sentence by sentence: what an action that was asked to stop may still do."""

from collections.abc import AsyncIterator, Awaitable, Callable

import anyio
import pytest

from rxferrix_lab.app.contexts import ActionCtx, SyncActionCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.errors import ActionCanceled
from rxferrix_lab.testing import TestApp
from tests.contract.stopping_program import (
    GRACE,
    HOUR,
    MOMENT,
    NOW,
    SECOND,
    app,
    note,
    notes,
    sleeper,
    started,
    told,
)


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as stepped:
        yield stepped


@pytest.fixture
def came_out() -> list[str]:
    told.clear()
    return told


Verb = Callable[[ActionCtx], Awaitable[object]]
REFUSED: dict[str, Verb] = {
    "run_mutation": lambda ctx: ctx.run_mutation(note, "after"),
    "run_action": lambda ctx: ctx.run_action(sleeper),
    "run_after": lambda ctx: ctx.scheduler.run_after(NOW, note, "after"),
    "run_at": lambda ctx: ctx.scheduler.run_at(ctx.now(), note, "after"),
    "enqueue": lambda ctx: ctx.scheduler.pool("one").enqueue(sleeper),
    "enqueue_after": lambda ctx: ctx.scheduler.pool("one").enqueue_after(NOW, sleeper),
    "enqueue_at": lambda ctx: ctx.scheduler.pool("one").enqueue_at(ctx.now(), sleeper),
    "enqueue_many": lambda ctx: ctx.scheduler.pool("one").enqueue_many(sleeper, [()]),
}
ALLOWED: dict[str, Verb] = {
    "run_query": lambda ctx: ctx.run_query(notes),
    "cancel": lambda ctx: ctx.scheduler.cancel(ctx.job_id or JobId(0)),
    "cancel_pool": lambda ctx: ctx.scheduler.cancel_pool("one"),
}


@app.action
async def trying(ctx: ActionCtx, verb: str) -> None:
    await ctx.canceled()
    try:
        await (REFUSED | ALLOWED)[verb](ctx)
    except ActionCanceled:
        told.append("refused")
    else:
        told.append("allowed")


class TestCallsAfterTheRequest:
    """4.3: they are refused, but for queries and cancellations."""

    @pytest.mark.parametrize("verb", REFUSED)
    async def test_are_refused(self, t: TestApp, came_out: list[str], verb: str) -> None:
        job = await started(t, trying, verb)

        t.cancel(job)
        await t.run_due_jobs()

        assert came_out == ["refused"]
        assert len(t.jobs()) == 1
        assert await t.run_query(notes) == []

    @pytest.mark.parametrize("verb", ALLOWED)
    async def test_that_read_or_cancel_stay_allowed(
        self, t: TestApp, came_out: list[str], verb: str
    ) -> None:
        job = await started(t, trying, verb)

        t.cancel(job)
        await t.run_due_jobs()

        assert came_out == ["allowed"]

    async def test_of_a_plain_def_action_are_refused_too(
        self, t: TestApp, came_out: list[str]
    ) -> None:
        job = await started(t, trying_in_a_thread)

        t.cancel(job)
        await t.run_due_jobs()

        assert came_out == ["refused", "refused", "query allowed", "cancel allowed"]


@app.action
def trying_in_a_thread(ctx: SyncActionCtx) -> None:
    ctx.canceled()
    for call in (
        lambda: ctx.run_mutation(note, "after"),
        lambda: ctx.scheduler.run_after(NOW, note, "after"),
    ):
        try:
            call()
        except ActionCanceled:
            told.append("refused")
    ctx.run_query(notes)
    told.append("query allowed")
    ctx.scheduler.cancel(ctx.job_id or JobId(0))
    told.append("cancel allowed")


class TestCleanup:
    """4.3: `with ctx.cleanup():` is shielded until the grace ends, and refused after it."""

    async def test_may_still_call_and_schedule(self, t: TestApp) -> None:
        job = await started(t, tidying)

        t.cancel(job)
        await t.run_due_jobs()

        assert t.job(job).state == "canceled"
        assert await t.run_query(notes) == ["tidied", "told"]

    async def test_in_a_plain_def_action_may_too(self, t: TestApp) -> None:
        job = await started(t, tidying_in_a_thread)

        t.cancel(job)
        await t.run_due_jobs()

        assert t.job(job).state == "canceled"
        assert await t.run_query(notes) == ["tidied"]

    async def test_is_not_reached_by_a_cancellation_from_around_it(
        self, t: TestApp, came_out: list[str]
    ) -> None:
        job = await started(t, tidying_in_a_cancelled_scope)
        await t.advance_time(SECOND)

        assert came_out == ["tidied"]
        assert t.job(job).state == "succeeded"

    async def test_is_cut_off_when_the_grace_ends(self, t: TestApp, came_out: list[str]) -> None:
        job = await started(t, tidying_too_long)

        t.cancel(job)
        await t.advance_time(GRACE - MOMENT)
        assert t.job(job).state == "canceling"
        await t.advance_time(MOMENT)

        assert t.job(job).state == "canceled"
        assert came_out == ["cut off"]

    async def test_after_the_grace_is_refused(self, t: TestApp, came_out: list[str]) -> None:
        job = await started(t, tidying_too_late)

        t.cancel(job)
        await t.advance_time(GRACE)

        assert t.job(job).state == "canceled"
        assert came_out == ["cancelled or refused"]
        assert await t.run_query(notes) == []

    async def test_covers_no_task_beside_it(self, t: TestApp, came_out: list[str]) -> None:
        job = await started(t, tidying_beside_another_task)

        t.cancel(job)
        await t.advance_time(SECOND)

        assert came_out == ["neighbour refused"]
        assert t.job(job).state == "canceled"

    async def test_covers_the_tasks_that_it_starts(self, t: TestApp) -> None:
        job = await started(t, tidying_in_two_tasks)

        t.cancel(job)
        await t.run_due_jobs()

        written = await t.run_query(notes)
        assert set(written) == {"one", "two"}


@app.action
async def tidying(ctx: ActionCtx) -> None:
    await ctx.canceled()
    with ctx.cleanup():
        await ctx.run_mutation(note, "tidied")
        await ctx.scheduler.run_after(NOW, note, "told")


@app.action
def tidying_in_a_thread(ctx: SyncActionCtx) -> None:
    ctx.canceled()
    with ctx.cleanup():
        ctx.run_mutation(note, "tidied")


@app.action
async def tidying_in_a_cancelled_scope(ctx: ActionCtx) -> None:
    with anyio.CancelScope() as scope:
        scope.cancel()
        with ctx.cleanup():
            await ctx.sleep(SECOND)
            told.append("tidied")


@app.action
async def tidying_too_long(ctx: ActionCtx) -> None:
    await ctx.canceled()
    with ctx.cleanup():
        try:
            await ctx.sleep(HOUR)
        finally:
            told.append("cut off")


@app.action
async def tidying_too_late(ctx: ActionCtx) -> None:
    try:
        await ctx.sleep(HOUR)
    finally:
        with ctx.cleanup():
            try:
                await ctx.run_mutation(note, "too late")
            except BaseException:
                told.append("cancelled or refused")
                raise


@app.action
async def tidying_beside_another_task(ctx: ActionCtx) -> None:
    async def neighbour() -> None:
        await ctx.canceled()
        try:
            await ctx.run_mutation(note, "beside")
        except ActionCanceled:
            told.append("neighbour refused")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(neighbour)
        with ctx.cleanup():
            await ctx.sleep(SECOND)


@app.action
async def tidying_in_two_tasks(ctx: ActionCtx) -> None:
    async def tidied(text: str) -> None:
        await ctx.run_mutation(note, text)

    await ctx.canceled()
    with ctx.cleanup():
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(tidied, "one")
            tasks.start_soon(tidied, "two")
