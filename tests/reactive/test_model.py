"""What a session sees of a running app."""

from datetime import timedelta

import pytest

from rxferrix_lab import ActionCtx, JobId, MutationCtx, RxFerrix, TestApp, Workpool
from rxferrix_lab.reactive.hub import Hub
from rxferrix_lab.reactive.job_filter import JobSearch, Order, Place
from rxferrix_lab.reactive.model import LiveModel


@pytest.fixture
def app() -> RxFerrix:
    """Functions that end well, badly, and late."""
    made = RxFerrix(interactive=False)
    made.workpool(Workpool("mail", max_parallelism=1))

    @made.mutation
    def note(ctx: MutationCtx, text: str) -> str:
        del ctx
        return text

    @made.action
    async def fail(ctx: ActionCtx, why: str) -> None:
        del ctx
        raise ValueError(why)

    @made.action
    async def work(ctx: ActionCtx, minutes: int) -> None:
        ctx.progress(1, 4, "begun")
        await ctx.sleep(timedelta(minutes=minutes))

    @made.mutation
    def start_work(ctx: MutationCtx, minutes: int, times: int = 1) -> list[JobId]:
        return [ctx.scheduler.pool("mail").enqueue(work, minutes) for _ in range(times)]

    @made.mutation
    def start_fail(ctx: MutationCtx, why: str) -> JobId:
        return ctx.scheduler.run_after(timedelta(0), fail, why)

    made.cron("hourly", "0 0 * * * *", note, "hour")
    return made


async def test_refresh_tells_whether_something_changed(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        model = LiveModel.of(t.runtime)
        before = model.refresh()

        await t.run_mutation("start_fail", "no stock")

        assert (before, model.refresh(), model.refresh()) == (False, True, False)


async def test_counts_say_what_is_due_and_since_when(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        due_at = t.now()
        await t.run_mutation("start_work", 5, 3)
        await t.advance_time(timedelta(minutes=1))

        counts = LiveModel.of(t.runtime).counts

        assert (counts.running, counts.due, counts.oldest_due_at) == (1, 2, due_at)


async def test_pool_shows_its_slots_and_who_waits(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        await t.run_mutation("start_work", 5, 3)
        await t.run_due_jobs()

        mail, plain = LiveModel.of(t.runtime).pools

        assert (mail.name, mail.in_use, mail.limit, mail.queued) == ("mail", 1, 1, 2)
        assert (plain.is_plain, plain.in_use, plain.limit) == (True, 0, 256)


async def test_failures_are_grouped_by_function_and_exception(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        for why in ("no stock", "no paper", "no ink"):
            await t.run_mutation("start_fail", why)
        await t.run_due_jobs()

        [group] = LiveModel.of(t.runtime).overview.failures

        assert (group.function, group.type, group.count) == ("fail", "ValueError", 3)
        assert group.message in {"no stock", "no paper", "no ink"}


async def test_success_rate_is_that_of_the_last_day(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        await t.run_mutation("start_fail", "no stock")
        await t.advance_time(timedelta(hours=25))

        overview = LiveModel.of(t.runtime).overview

        assert (overview.failed, overview.success_rate) == (0, 1.0)


async def test_next_ten_runs_are_in_order(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        runs = LiveModel.of(t.runtime).overview.next_runs

        assert [run.at - t.now() for run in runs] == [timedelta(hours=n) for n in range(1, 11)]


async def test_strip_of_a_cron_holds_its_runs(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        await t.advance_time(timedelta(hours=3))

        [cron] = LiveModel.of(t.runtime).crons

        assert [(run.at.hour, run.outcome) for run in cron.strip] == [
            (1, "succeeded"),
            (2, "succeeded"),
            (3, "succeeded"),
        ]


async def test_progress_of_a_running_action_is_seen(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        [job] = await t.run_mutation("start_work", 5)
        await t.run_due_jobs()

        [told] = LiveModel.of(t.runtime).progress

        assert (told.job, '"note":"begun"' in told.progress) == (job, True)


@pytest.mark.parametrize(
    ("slots", "why"),
    [
        (0, "It is due, and the pool mail is paused (0 slots)."),
        (1, "It is due, and all 1 slots of the pool mail are taken."),
    ],
)
async def test_waiting_job_says_why(app: RxFerrix, slots: int, why: str) -> None:
    async with TestApp(app) as t:
        t.resize_pool("mail", slots)
        *_, last = await t.run_mutation("start_work", 5, 2)
        await t.run_due_jobs()

        details = await LiveModel.of(t.runtime).job(last)

        assert details is not None
        assert details.why == why


async def test_job_of_an_unknown_function_says_so(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        job = await t.run_mutation("start_fail", "no stock")
        del app.registry.functions["fail"]

        details = await LiveModel.of(t.runtime).job(job)

        assert details is not None
        assert details.why.startswith("The function fail is not registered")


async def test_virtual_time_is_told_apart(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        assert LiveModel.of(t.runtime).is_virtual


async def test_closed_store_is_a_problem_and_keeps_the_last_picture(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        await t.run_mutation("start_fail", "no stock")
        model = LiveModel.of(t.runtime)
        t.runtime.engine.store.close()

        model.refresh()

        assert not model.health.is_running
        assert model.health.problem.startswith("the app has stopped")
        assert model.counts.pending == 1


async def test_models_of_one_app_share_a_hub(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        assert Hub.of(t.runtime) is Hub.of(t.runtime)


async def test_page_of_jobs_is_found_by_filter(app: RxFerrix) -> None:
    async with TestApp(app) as t:
        await t.run_mutation("start_fail", "no stock")
        await t.run_mutation("start_work", 5, 2)

        found = await LiveModel.of(t.runtime).find_jobs(
            JobSearch(function="work"), Order(), Place()
        )

        assert [job.function for job in found.jobs] == ["work", "work"]
