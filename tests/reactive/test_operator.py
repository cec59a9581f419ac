"""What screens do with an app, as somebody."""

from datetime import timedelta

import pytest

from rxferrix_lab import (
    Identity,
    JobId,
    MutationCtx,
    PermissionDeniedError,
    RxFerrix,
    TestApp,
)
from rxferrix_lab.reactive.job_filter import JobSearch
from rxferrix_lab.reactive.operator import Operator

ANN, BOB = Identity("ann", admin=True), Identity("bob")


@pytest.fixture
def app() -> RxFerrix:
    """Jobs for tomorrow."""
    made = RxFerrix(interactive=False)

    @made.mutation
    def note(ctx: MutationCtx, number: int) -> int:
        del ctx
        return number

    @made.mutation
    def plan(ctx: MutationCtx, count: int) -> list[JobId]:
        return [ctx.scheduler.run_after(timedelta(days=1), note, n) for n in range(count)]

    return made


async def test_cancelling_all_that_match_is_one_row_in_the_log(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        await t.run_mutation("plan", 5)

        count = await Operator(t.runtime, ANN).cancel_matching(JobSearch(function="note"))

        assert count == 5
        assert set(t.jobs(function="note")["state"]) == {"canceled"}
        log = t.sql("SELECT identity, detail FROM _execution_log WHERE caller = 'operator'")
        assert log.values.tolist() == [["ann", "cancel: 5 jobs: 1, 2, 3, 4, 5"]]


async def test_of_what_matches_only_what_has_not_ended_is_canceled(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        first, _ = await t.run_mutation("plan", 2)
        t.cancel(first)

        assert await Operator(t.runtime, ANN).cancel_matching(JobSearch()) == 1
        assert await Operator(t.runtime, ANN).rerun_matching(JobSearch()) == 2


async def test_jobs_that_ended_are_left_out_of_a_cancellation(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        first, second = await t.run_mutation("plan", 2)
        t.cancel(first)

        assert await Operator(t.runtime, ANN).cancel_jobs([first, second, JobId(99)]) == 1


async def test_only_what_failed_or_was_canceled_runs_again(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        first, second = await t.run_mutation("plan", 2)
        t.cancel(first)

        assert await Operator(t.runtime, ANN).rerun_jobs([first, second]) == 1


@pytest.mark.parametrize("verb", ["cancel_jobs", "rerun_jobs"])
async def test_viewer_is_refused_and_logged(app: RxFerrix, verb: str) -> None:
    async with TestApp(app) as t:
        jobs = await t.run_mutation("plan", 2)

        with pytest.raises(PermissionDeniedError):
            await getattr(Operator(t.runtime, BOB), verb)(jobs)

        log = t.sql("SELECT identity, outcome FROM _execution_log WHERE caller = 'operator'")
        assert log.values.tolist() == [["bob", "failed"]]


async def test_viewer_is_told_that_he_may_not_operate(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        assert (Operator(t.runtime, ANN).may_operate, Operator(t.runtime, BOB).may_operate) == (
            True,
            False,
        )
