"""Contract 4.1, 4.2 and 4.5, sentence by sentence: what a cancellation does, and when."""

from collections.abc import AsyncIterator
from datetime import timedelta

import anyio
import anyio.lowlevel
import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.outcome import Canceled
from rxferrix_lab.errors import UnknownJobError
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
    polite,
    sleeper,
    started,
)


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as stepped:
        yield stepped


@app.mutation
def cancel_and_raise(ctx: MutationCtx, job: JobId) -> None:
    ctx.scheduler.cancel(job)
    raise LookupError("rolled back")


@app.action
async def failing(ctx: ActionCtx) -> None:
    raise LookupError(f"attempt {ctx.attempt}")


@app.action
async def polling(ctx: ActionCtx) -> None:
    while not ctx.is_canceled():
        await ctx.sleep(SECOND)
    await anyio.lowlevel.checkpoint()
    raise LookupError("raised after the request")


@app.action
async def swallowing(ctx: ActionCtx) -> str:
    try:
        await ctx.sleep(HOUR)
    except BaseException:  # noqa: BLE001  # the very mistake that must do no harm
        return "swallowed"
    return "slept"


class TestAPendingJob:
    """4.1: a pending job is canceled at once."""

    async def test_is_canceled_at_once_and_never_runs(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(HOUR, note, "never")

        assert t.cancel(job)

        assert t.job(job).state == "canceled"
        assert t.job(job).finished_at == t.job(job).cancel_requested_at == t.now()
        assert await t.advance_time(2 * HOUR) == []
        assert await t.run_query(notes) == []

    async def test_that_waits_for_a_retry_is_canceled_at_once(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(3).run_after(NOW, failing)
        await t.run_due_jobs()

        assert t.cancel(job)

        assert t.job(job).state == "canceled"
        assert t.job(job).attempt == 1
        assert await t.advance_time(HOUR) == []

    async def test_that_waits_for_a_slot_is_canceled_at_once(self, t: TestApp) -> None:
        await t.scheduler.pool("one").enqueue(sleeper)
        queued = await t.scheduler.pool("one").enqueue(sleeper)
        await t.run_due_jobs()

        t.cancel(queued)

        assert t.job(queued).state == "canceled"

    async def test_stays_when_the_mutation_that_canceled_it_raises(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(HOUR, note, "kept")

        with pytest.raises(LookupError):
            await t.run_mutation(cancel_and_raise, job)

        assert t.job(job).state == "pending"
        await t.advance_time(HOUR)
        assert await t.run_query(notes) == ["kept"]


class TestTheRequest:
    """4.2: a running action is asked, and should stop."""

    async def test_turns_is_canceled_true(self, t: TestApp) -> None:
        job = await started(t, polling)

        t.cancel(job)
        await t.advance_time(SECOND)

        assert t.job(job).state == "canceled"

    async def test_lets_canceled_return(self, t: TestApp) -> None:
        job = await started(t, polite)

        t.cancel(job)
        await t.run_due_jobs()

        assert t.job(job).state == "canceled"
        assert t.job(job).finished_at == t.now()

    async def test_has_committed_before_the_action_is_asked(self, t: TestApp) -> None:
        job = await started(t, sleeper)

        assert t.cancel(job)

        assert t.job(job).state == "canceling"
        assert t.job(job).cancel_requested_at == t.now()

    async def test_is_true_once_and_false_after(self, t: TestApp) -> None:
        job = await started(t, sleeper)

        assert [t.cancel(job), t.cancel(job)] == [True, False]
        await t.advance_time(GRACE)
        assert not t.cancel(job)

    async def test_to_a_job_that_has_ended_is_false_and_changes_nothing(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, note, "done")
        await t.run_due_jobs()

        assert not t.cancel(job)

        assert t.job(job).state == "succeeded"
        assert t.job(job).cancel_requested_at is None

    async def test_for_an_unknown_job_is_refused(self, t: TestApp) -> None:
        with pytest.raises(UnknownJobError):
            t.cancel(JobId(404))

    async def test_is_part_of_the_transaction_that_makes_it(self, t: TestApp) -> None:
        job = await started(t, polite)

        with pytest.raises(LookupError):
            await t.run_mutation(cancel_and_raise, job)
        await t.run_due_jobs()

        assert t.job(job).state == "running"


class TestGrace:
    """4.2: five seconds later it is aborted at its next await."""

    async def test_ends_after_five_seconds(self, t: TestApp) -> None:
        job = await started(t, sleeper)

        t.cancel(job)
        await t.advance_time(GRACE - MOMENT)
        assert t.job(job).state == "canceling"
        await t.advance_time(MOMENT)

        assert t.job(job).state == "canceled"
        assert t.job(job).finished_at == t.now()

    async def test_is_an_option_of_the_app(self) -> None:
        patient = RxFerrix(interactive=False, grace=timedelta(seconds=60))
        resting = patient.action(name="sleeper")(_sleep_an_hour)
        async with TestApp(patient) as t:
            job = await started(t, resting)

            t.cancel(job)
            await t.advance_time(timedelta(seconds=59))
            assert t.job(job).state == "canceling"
            await t.advance_time(SECOND)

            assert t.job(job).state == "canceled"

    async def test_is_an_option_of_the_action(self) -> None:
        mixed = RxFerrix(interactive=False, grace=timedelta(seconds=60))
        resting = mixed.action(name="hasty", grace=SECOND)(_sleep_an_hour)
        async with TestApp(mixed) as t:
            job = await started(t, resting)

            t.cancel(job)
            await t.advance_time(SECOND)

            assert t.job(job).state == "canceled"

    async def test_of_nothing_aborts_at_once(self) -> None:
        strict = RxFerrix(interactive=False, grace=NOW)
        resting = strict.action(name="sleeper")(_sleep_an_hour)
        async with TestApp(strict) as t:
            job = await started(t, resting)

            t.cancel(job)
            await t.run_due_jobs()

            assert t.job(job).state == "canceled"

    async def test_that_is_not_needed_is_not_waited_for(self, t: TestApp) -> None:
        job = await started(t, polite)
        t.cancel(job)
        await t.run_due_jobs()
        ended = t.job(job)

        await t.advance_time(HOUR)

        assert t.job(job) == ended


async def _sleep_an_hour(ctx: ActionCtx) -> None:
    await ctx.sleep(HOUR)


class TestTheVerdict:
    """4.2: whatever it returns or raises after the request, the job ends canceled."""

    async def test_of_a_return_is_canceled_without_a_result(self, t: TestApp) -> None:
        job = await started(t, polite)

        t.cancel(job)
        await t.run_due_jobs()

        assert (t.job(job).state, t.job(job).result) == ("canceled", None)
        assert await t.wait(job) == Canceled()

    async def test_of_an_exception_is_canceled_without_an_error(self, t: TestApp) -> None:
        job = await started(t, polling)

        t.cancel(job)
        await t.advance_time(SECOND)

        assert (t.job(job).state, t.job(job).error) == ("canceled", None)

    async def test_of_an_exception_is_no_reason_for_a_retry(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(3).run_after(NOW, polling)
        await t.run_due_jobs()

        t.cancel(job)
        await t.advance_time(HOUR)

        assert (t.job(job).state, t.job(job).attempt) == ("canceled", 1)

    async def test_of_a_body_that_swallows_the_cancellation_is_canceled(self, t: TestApp) -> None:
        job = await started(t, swallowing)

        t.cancel(job)
        await t.advance_time(GRACE)

        assert (t.job(job).state, t.job(job).result) == ("canceled", None)

    async def test_of_an_action_that_ended_before_the_request_is_its_own(self, t: TestApp) -> None:
        job = await started(t, sleeper)
        await t.advance_time(HOUR)

        assert not t.cancel(job)

        assert t.job(job).state == "succeeded"

    async def test_is_the_outcome_of_the_attempt_in_the_log(self, t: TestApp) -> None:
        job = await started(t, polling)
        t.cancel(job)
        await t.advance_time(SECOND)

        rows = t.sql("SELECT outcome, error FROM _execution_log WHERE job = $job", job=job)

        assert rows["outcome"].tolist() == ["canceled"]
        assert rows["error"].isna().all()

    async def test_survives_a_crash_in_the_grace(self, t: TestApp) -> None:
        job = await started(t, sleeper)
        t.cancel(job)

        await t.restart()

        assert t.job(job).state == "canceled"


class TestWhatItDidAlready:
    """4.3: mutations it already ran stay committed; jobs it already scheduled stay scheduled."""

    async def test_stays(self, t: TestApp) -> None:
        job = await started(t, busy_before)

        t.cancel(job)
        await t.advance_time(2 * HOUR)

        assert t.job(job).state == "canceled"
        assert await t.run_query(notes) == ["ran before", "scheduled before"]


@app.action
async def busy_before(ctx: ActionCtx) -> None:
    await ctx.run_mutation(note, "ran before")
    await ctx.scheduler.run_after(HOUR, note, "scheduled before")
    await ctx.sleep(HOUR)


class TestAMutation:
    """4.5: it cannot be canceled while it runs; either it or the cancellation is first."""

    async def test_that_comes_first_is_done_and_the_cancellation_false(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, note, "first")
        canceling = await t.scheduler.run_after(NOW, cancel_job, job)

        await t.run_due_jobs()

        assert t.job(job).state == "succeeded"
        assert t.job(canceling).result is False

    async def test_that_comes_second_never_runs(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(SECOND, note, "second")
        canceling = await t.scheduler.run_after(NOW, cancel_job, job)

        await t.advance_time(SECOND)

        assert t.job(job).state == "canceled"
        assert t.job(canceling).result is True

    async def test_cannot_cancel_itself(self, t: TestApp) -> None:
        following = JobId((await t.scheduler.run_after(HOUR, note, "later")) + 1)
        job = await t.scheduler.run_after(NOW, cancel_job, following)
        assert job == following

        await t.run_due_jobs()

        assert (t.job(job).state, t.job(job).result) == ("succeeded", False)


@app.mutation
def cancel_job(ctx: MutationCtx, job: JobId) -> bool:
    return ctx.scheduler.cancel(job)
