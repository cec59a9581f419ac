"""A job's life as steps."""

from datetime import timedelta

import pytest

from rxferrix_lab import ActionCtx, JobId, MutationCtx, RxFerrix, TestApp
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.picture import JobDetails
from rxferrix_lab.views.job_timeline import steps_of, timeline
from rxferrix_lab.views.usual_duration import usual_duration

NASTY = "<img src=x onerror=alert(1)>"


@pytest.fixture
def app() -> RxFerrix:
    """An action that fails, with two retries."""
    made = RxFerrix(interactive=False)

    @made.action
    async def fail(ctx: ActionCtx) -> None:
        await ctx.sleep(timedelta(seconds=30))
        raise ValueError(NASTY)

    @made.mutation
    def plan(ctx: MutationCtx) -> JobId:
        return ctx.scheduler.with_retries(1).run_after(timedelta(minutes=5), fail)

    return made


async def details(t: TestApp, job: JobId) -> JobDetails:
    found = await LiveModel.of(t.runtime).job(job)
    assert found is not None
    return found


def titles(found: JobDetails) -> list[str]:
    return [step.title for step in steps_of(found)]


async def test_job_for_later_is_asked_and_will_be_due(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        found = await details(t, await t.run_mutation("plan"))

        assert titles(found) == ["Asked", "Due"]
        assert [step.is_coming for step in steps_of(found)] == [False, True]


async def test_job_that_waits_for_a_retry_shows_the_attempt_to_come(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        job = await t.run_mutation("plan")
        await t.advance_time(timedelta(minutes=5, seconds=30))

        assert titles(await details(t, job)) == ["Asked", "Due", "Attempt 1", "Failed", "Attempt 2"]


async def test_job_that_has_failed_shows_every_attempt_and_its_end(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        job = await t.run_mutation("plan")
        await t.advance_time(timedelta(hours=1))

        found = await details(t, job)
        assert titles(found) == ["Asked", "Due", "Attempt 1", "Failed", "Attempt 2", "Failed"]
        assert "30.0 s" in timeline(found, "UTC", t.now())


def test_usual_duration_says_so_where_there_is_none() -> None:
    assert "No run of this function has succeeded yet" in usual_duration((), None)


def test_usual_duration_of_one_run_compares_nothing() -> None:
    usual = (timedelta(seconds=2),)

    assert "the only run that has succeeded took 2.0 s<" in usual_duration(usual, usual[0])


def test_usual_duration_compares_this_run_with_the_others() -> None:
    usual = tuple(timedelta(seconds=seconds) for seconds in (1, 2, 3, 4))

    assert "longer than 50 % of them" in usual_duration(usual, timedelta(seconds=3))
