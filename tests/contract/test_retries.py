"""Contract 2.6, sentence by sentence, in virtual time."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab import (
    ActionCtx,
    MutationCtx,
    RetriesError,
    RxFerrix,
    TestApp,
    Workpool,
)

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
START = datetime(2026, 1, 1, tzinfo=UTC)

app = RxFerrix()
app.workpool(Workpool("narrow", max_parallelism=1))


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    """Does nothing."""


@app.action
async def nap(ctx: ActionCtx, text: str) -> None:
    await ctx.sleep(HOUR)


@app.action
async def fail(ctx: ActionCtx) -> None:
    raise ValueError(f"attempt {ctx.attempt}")


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as entered:
        yield entered


class TestRetries:
    async def test_n_retries_are_n_plus_one_attempts(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(3).run_after(NOW, fail)

        await t.advance_time(HOUR)

        assert t.job(job).state == "failed"
        assert t.job(job).attempt == 4
        error = t.job(job).error
        assert error is not None
        assert error.message == "attempt 4"

    async def test_none_is_the_default(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, fail)

        await t.run_due_jobs()

        assert (t.job(job).state, t.job(job).attempt) == ("failed", 1)

    @pytest.mark.parametrize("retries", [-1, 1.5, True, None])
    async def test_what_is_no_number_of_retries_is_refused(
        self, t: TestApp, retries: object
    ) -> None:
        with pytest.raises(RetriesError):
            t.scheduler.with_retries(retries)  # type: ignore[arg-type]  # refused

    async def test_a_mutation_is_refused_at_the_call(self, t: TestApp) -> None:
        with pytest.raises(RetriesError, match="exactly once"):
            await t.scheduler.with_retries(1).run_after(NOW, note, "a")

        assert len(t.jobs()) == 0

    async def test_each_wait_lies_within_the_bounds_of_its_retry(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(20).run_after(NOW, fail)

        for retry in range(1, 21):
            failed_at = t.now() if retry == 1 else t.job(job).due_at
            await t.advance_time(failed_at - t.now())
            wait = t.job(job).due_at - failed_at
            undisturbed = min(timedelta(milliseconds=250) * 2 ** (retry - 1), 2 * HOUR)
            assert min(undisturbed * 0.5, HOUR) <= wait <= min(undisturbed * 1.5, HOUR)

    async def test_the_factor_is_drawn_anew_for_each_retry(self, t: TestApp) -> None:
        jobs = [await t.scheduler.with_retries(1).run_after(NOW, fail) for _ in range(10)]
        await t.run_due_jobs()

        assert len({t.job(job).due_at for job in jobs}) == 10

    async def test_a_waiting_retry_is_pending_and_holds_no_slot(self, t: TestApp) -> None:
        pool = t.scheduler.pool("narrow").with_retries(5)
        waiting = await pool.enqueue(fail)
        other = await t.scheduler.pool("narrow").enqueue(nap, "other")

        assert await t.run_due_jobs() == [waiting, other]
        assert (t.job(waiting).state, t.job(waiting).attempt) == ("pending", 1)
        assert t.job(other).state == "running"

    async def test_a_waiting_retry_can_be_canceled_at_once(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(5).run_after(NOW, fail)
        await t.run_due_jobs()

        assert await t.scheduler.cancel(job) is True
        assert t.job(job).state == "canceled"
        assert await t.advance_time(HOUR) == []

    async def test_the_time_that_was_asked_for_is_kept_over_retries(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(1).run_after(SECOND, fail)

        await t.advance_time(HOUR)

        assert t.job(job).scheduled_for == START + SECOND
        assert t.job(job).due_at > START + SECOND
