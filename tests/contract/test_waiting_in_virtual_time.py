"""Contract 8.4: an action that waits on the clock lets it go on, and real work is waited for."""

import asyncio  # noqa: TID251  # actions of users may use it, and virtual time has to bear that
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import anyio
import anyio.to_thread
import pytest

from rxferrix_lab import (
    ActionCtx,
    JobId,
    RxFerrix,
    SyncActionCtx,
    TestApp,
)
from tests.contract.timed_program import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    START,
    bare,
    nap,
    nap_in_a_thread,
)


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(bare) as entered:
        yield entered


Body = Callable[[ActionCtx], Awaitable[object]]


@pytest.fixture
async def run_body() -> AsyncIterator[Callable[[Body], Awaitable[tuple[TestApp, JobId]]]]:
    """Runs one action whose body the test gives, on a TestApp of its own."""
    made = RxFerrix(interactive=True)
    async with TestApp(made, real_timeout=timedelta(seconds=20)) as t:

        async def run(body: Body) -> tuple[TestApp, JobId]:
            @made.action
            async def action(ctx: ActionCtx) -> None:
                await body(ctx)

            job = await t.scheduler.run_after(NOW, action)
            await t.run_due_jobs()
            return t, job

        yield run


Run = Callable[[Body], Awaitable[tuple[TestApp, JobId]]]


def real_work() -> None:
    time.sleep(0.05)  # what an action does that waits on something real


class TestWaitingOnTheClock:
    """8.4: it goes on once every task of the action waits on it."""

    async def test_a_task_group_whose_tasks_all_sleep(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ctx.sleep, HOUR)
                tasks.start_soon(ctx.sleep, 2 * HOUR)

        t, job = await run_body(body)
        await t.advance_time(2 * HOUR)

        assert t.job(job).finished_at == START + 2 * HOUR

    async def test_a_task_group_in_a_task_group(self, run_body: Run) -> None:
        async def inner(ctx: ActionCtx) -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(ctx.sleep, HOUR)

        async def body(ctx: ActionCtx) -> None:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(inner, ctx)
                tasks.start_soon(ctx.sleep, MINUTE)

        t, job = await run_body(body)
        await t.advance_time(HOUR)

        assert t.job(job).finished_at == START + HOUR

    async def test_a_group_with_one_task_at_real_work_waits_for_that_first(
        self, run_body: Run
    ) -> None:
        order: list[str] = []

        async def body(ctx: ActionCtx) -> None:
            async def work() -> None:
                await anyio.to_thread.run_sync(real_work)
                order.append("work")

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(work)
                await ctx.sleep(SECOND)
                order.append("slept")

        t, job = await run_body(body)
        await t.advance_time(SECOND)

        assert order == ["work", "slept"]
        assert t.job(job).state == "succeeded"

    async def test_a_sleep_under_a_cancel_scope(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            with anyio.CancelScope():
                await ctx.sleep(HOUR)

        t, job = await run_body(body)
        await t.advance_time(HOUR)

        assert t.job(job).state == "succeeded"

    async def test_until_canceled_waits_on_the_clock_too(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            await ctx.canceled()

        t, job = await run_body(body)
        await t.advance_time(DAY)
        before = t.job(job).state
        await t.scheduler.cancel(job)
        await t.run_due_jobs()

        assert (before, t.job(job).state) == ("running", "canceled")

    async def test_a_race_between_canceled_and_a_sleep(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            async def give_up(scope: anyio.CancelScope) -> None:
                await ctx.canceled()
                scope.cancel()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(give_up, tasks.cancel_scope)
                await ctx.sleep(HOUR)
                tasks.cancel_scope.cancel()

        t, job = await run_body(body)
        await t.advance_time(HOUR)

        assert t.job(job).finished_at == START + HOUR

    async def test_a_race_between_canceled_and_real_work_waits_on_the_work(
        self, run_body: Run
    ) -> None:
        async def body(ctx: ActionCtx) -> None:
            async def give_up(scope: anyio.CancelScope) -> None:
                await ctx.canceled()
                scope.cancel()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(give_up, tasks.cancel_scope)
                await anyio.to_thread.run_sync(real_work)
                tasks.cancel_scope.cancel()

        t, job = await run_body(body)

        assert t.job(job).state == "succeeded"
        assert t.job(job).finished_at == START

    async def test_or_canceled_around_real_work_waits_on_the_work(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            await ctx.or_canceled(anyio.to_thread.run_sync(real_work))

        t, job = await run_body(body)

        assert t.job(job).finished_at == START

    async def test_or_canceled_around_a_sleep_waits_on_the_clock(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            await ctx.or_canceled(ctx.sleep(HOUR))

        t, job = await run_body(body)
        before = t.job(job).state
        await t.advance_time(HOUR)

        assert (before, t.job(job).finished_at) == ("running", START + HOUR)

    async def test_an_action_that_runs_another_that_sleeps(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, nap_inside)

        await t.advance_time(HOUR)

        assert t.job(job).finished_at == START + MINUTE

    async def test_a_plain_def_action_that_sleeps(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, nap_in_a_thread, "a", 60)

        await t.advance_time(HOUR)

        assert t.job(job).finished_at == START + MINUTE

    async def test_a_plain_def_action_at_real_work_is_awaited(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, work_in_a_thread)

        await t.run_due_jobs()

        assert t.job(job).finished_at == START


@bare.action
async def nap_inside(ctx: ActionCtx) -> None:
    await ctx.run_action(nap, "inner", 60)


@bare.action
def work_in_a_thread(ctx: SyncActionCtx) -> None:
    real_work()


class TestAsyncioOnly:
    """What asyncio alone has: bare tasks, gather and its own task groups."""

    @pytest.fixture
    def anyio_backend(self) -> str:
        return "asyncio"

    async def test_gather(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            await asyncio.gather(ctx.sleep(MINUTE), ctx.sleep(HOUR))

        t, job = await run_body(body)
        await t.advance_time(HOUR)

        assert t.job(job).finished_at == START + HOUR

    async def test_gather_with_real_work(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            await asyncio.gather(ctx.sleep(MINUTE), asyncio.to_thread(real_work))

        t, job = await run_body(body)
        await t.advance_time(MINUTE)

        assert t.job(job).finished_at == START + MINUTE

    async def test_a_bare_task_that_is_awaited(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            await asyncio.create_task(ctx.sleep(HOUR))

        t, job = await run_body(body)
        await t.advance_time(HOUR)

        assert t.job(job).finished_at == START + HOUR

    async def test_asyncios_own_task_group(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(ctx.sleep(HOUR))
                tasks.create_task(ctx.sleep(MINUTE))

        t, job = await run_body(body)
        await t.advance_time(HOUR)

        assert t.job(job).finished_at == START + HOUR

    async def test_wait(self, run_body: Run) -> None:
        async def body(ctx: ActionCtx) -> None:
            tasks = [asyncio.create_task(ctx.sleep(hours * HOUR)) for hours in (1, 2)]
            _, late = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in late:
                task.cancel()

        t, job = await run_body(body)
        await t.advance_time(HOUR)

        assert t.job(job).finished_at == START + HOUR
