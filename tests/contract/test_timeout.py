"""What goes the road of contract 4 too: `timeout=`, `ctx.or_canceled`, sleep and progress."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from rxferrix_lab.app.contexts import ActionCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.errors import ActionCanceled, InstantError
from rxferrix_lab.testing import TestApp
from tests.contract.stopping_program import (
    GRACE,
    HOUR,
    MOMENT,
    NOW,
    SECOND,
    app,
    note,
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


class TestTimeout:
    """`timeout=` on an action takes the same road, with the cause `timeout`."""

    async def test_asks_then_aborts_when_the_grace_is_over(self, t: TestApp) -> None:
        job = await started(t, slow)

        await t.advance_time(timedelta(seconds=10) + GRACE - MOMENT)
        assert t.job(job).state == "running"
        await t.advance_time(MOMENT)

        assert t.job(job).state == "failed"
        assert _kind_of_error(t, job) == "timeout"

    async def test_counts_whatever_the_action_returns_after_it(self, t: TestApp) -> None:
        job = await started(t, slow_but_polite)

        await t.advance_time(timedelta(seconds=10))

        assert t.job(job).state == "failed"
        assert _kind_of_error(t, job) == "timeout"

    async def test_is_retried_where_retries_are_left(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(1).run_after(NOW, slow_at_first)

        await t.advance_time(timedelta(minutes=1))

        assert (t.job(job).state, t.job(job).attempt) == ("succeeded", 2)

    async def test_does_not_touch_an_action_that_is_quick_enough(self, t: TestApp) -> None:
        job = await started(t, quick_enough)

        await t.advance_time(HOUR)

        assert t.job(job).state == "succeeded"

    async def test_that_is_canceled_in_its_grace_ends_canceled(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(3).run_after(NOW, slow)
        await t.advance_time(timedelta(seconds=12))

        assert t.cancel(job)
        await t.advance_time(HOUR)

        assert t.job(job).state == "canceled"

    async def test_refuses_calls_like_a_cancellation(self, t: TestApp, came_out: list[str]) -> None:
        await started(t, calling_after_its_timeout)

        await t.advance_time(timedelta(seconds=10))

        assert came_out == ["refused"]


def _kind_of_error(t: TestApp, job: JobId) -> str | None:
    error = t.job(job).error
    return error.kind if error is not None else None


@app.action(timeout=timedelta(seconds=10))
async def slow(ctx: ActionCtx) -> None:
    await ctx.sleep(HOUR)


@app.action(timeout=timedelta(seconds=10))
async def slow_but_polite(ctx: ActionCtx) -> str:
    await ctx.canceled()
    return "in time for nothing"


@app.action(timeout=timedelta(seconds=10))
async def slow_at_first(ctx: ActionCtx) -> None:
    await ctx.sleep(HOUR if ctx.attempt == 1 else SECOND)


@app.action(timeout=timedelta(seconds=10))
async def quick_enough(ctx: ActionCtx) -> None:
    await ctx.sleep(timedelta(seconds=9))


@app.action(timeout=timedelta(seconds=10))
async def calling_after_its_timeout(ctx: ActionCtx) -> None:
    await ctx.canceled()
    try:
        await ctx.run_mutation(note, "after")
    except ActionCanceled:
        told.append("refused")


class TestOrCanceled:
    async def test_gives_the_value_where_no_request_comes(self, t: TestApp) -> None:
        job = await started(t, racing)

        await t.advance_time(HOUR)

        assert t.job(job).result == "the value"

    async def test_raises_as_soon_as_one_comes_and_ends_the_work(
        self, t: TestApp, came_out: list[str]
    ) -> None:
        job = await started(t, racing)

        t.cancel(job)
        await t.run_due_jobs()

        assert came_out == ["work ended", "raised"]
        assert t.job(job).finished_at == t.now()

    async def test_raises_at_once_where_one_came_before(
        self, t: TestApp, came_out: list[str]
    ) -> None:
        job = await started(t, racing_too_late)

        t.cancel(job)
        await t.run_due_jobs()

        assert came_out == ["raised"]


@app.action
async def racing(ctx: ActionCtx) -> str:
    async def work() -> str:
        try:
            await ctx.sleep(HOUR)
        except BaseException:
            told.append("work ended")
            raise
        return "the value"

    try:
        return await ctx.or_canceled(work())
    except ActionCanceled:
        told.append("raised")
        raise


@app.action
async def racing_too_late(ctx: ActionCtx) -> None:
    await ctx.canceled()
    try:
        await ctx.or_canceled(ctx.sleep(HOUR))
    except ActionCanceled:
        told.append("raised")


class TestSleep:
    async def test_takes_as_long_as_the_clock_says(self, t: TestApp) -> None:
        job = await started(t, sleeper)
        begun = t.now()

        await t.advance_time(2 * HOUR)

        assert t.job(job).finished_at == begun + HOUR

    async def test_of_less_than_nothing_is_refused(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, sleeping_backwards)

        await t.run_due_jobs()

        error = t.job(job).error
        assert error is not None
        assert error.type == InstantError.__name__


@app.action
async def sleeping_backwards(ctx: ActionCtx) -> None:
    await ctx.sleep(-SECOND)


class TestProgress:
    async def test_is_seen_while_the_action_runs(self, t: TestApp) -> None:
        job = await started(t, telling)

        attempt = t.runtime.engine.attempts.of_job(job)

        assert attempt is not None
        assert attempt.progress == '{"done":1,"total":4,"note":"a quarter"}'

    async def test_is_stored_with_the_attempt(self, t: TestApp) -> None:
        job = await started(t, telling)
        await t.advance_time(HOUR)

        rows = t.sql("SELECT progress FROM _execution_log WHERE job = $job", job=job)

        assert rows["progress"].tolist() == ['{"done":4,"total":4,"note":""}']

    @pytest.mark.parametrize("told", [(float("nan"), 1.0), (1.0, 0.0), (float("inf"), 1.0)])
    async def test_that_is_no_progress_is_refused(
        self, t: TestApp, told: tuple[float, float]
    ) -> None:
        job = await t.scheduler.run_after(NOW, telling_nonsense, str(told[0]), str(told[1]))

        await t.run_due_jobs()

        error = t.job(job).error
        assert error is not None
        assert error.type == "ValueError"


@app.action
async def telling(ctx: ActionCtx) -> None:
    ctx.progress(1, 4, "a quarter")
    await ctx.sleep(SECOND)
    ctx.progress(4, 4)


@app.action
async def telling_nonsense(ctx: ActionCtx, done: str, total: str) -> None:
    ctx.progress(float(done), float(total))
