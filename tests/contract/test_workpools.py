"""Contract 6.1 and 6.4: slots, fairness, batches, and canceling a whole pool."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx, SyncActionCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.engine.cancellation import PoolCancellation
from rxferrix_lab.engine.program import Identity
from rxferrix_lab.errors import (
    ArgumentsError,
    NotSchedulableError,
    PermissionDeniedError,
    UnknownPoolError,
)
from rxferrix_lab.testing import TestApp

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
MANY = 100_000

app = RxFerrix(interactive=False, parallelism=3)
app.table("notes", "text VARCHAR")
app.workpool(Workpool("emails", 2))
app.workpool(Workpool("reports", 1))


@app.action
async def work(ctx: ActionCtx, _number: int = 0) -> None:
    await ctx.sleep(MINUTE)


@app.action
def work_in_a_thread(ctx: SyncActionCtx, _number: int = 0) -> None:
    ctx.sleep(MINUTE)


@app.action
async def failing(_ctx: ActionCtx) -> None:
    raise LookupError


@app.action
async def quick(_ctx: ActionCtx, _number: int) -> None:
    return None


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text})


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as stepped:
        yield stepped


def running(t: TestApp, pool: str) -> int:
    return len(t.jobs(state="running", pool=pool))


class TestSlots:
    """6.1: at most `max_parallelism` actions of a pool run at once, each with its own slots."""

    async def test_are_never_exceeded(self, t: TestApp) -> None:
        await t.scheduler.pool("emails").enqueue_many(work, [(n,) for n in range(9)])

        seen: list[int] = []
        for _ in range(4):
            await t.advance_time(MINUTE / 2)
            seen.append(running(t, "emails"))

        assert seen == [2, 2, 2, 2]

    async def test_are_given_to_the_next_when_one_ends(self, t: TestApp) -> None:
        jobs = await t.scheduler.pool("reports").enqueue_many(work, [(n,) for n in range(3)])

        await t.advance_time(3 * MINUTE)

        begun = [t.job(job).started_at for job in jobs]
        start = t.now() - 3 * MINUTE
        assert begun == [start, start + MINUTE, start + 2 * MINUTE]

    async def test_of_a_full_pool_delay_no_other_pool(self, t: TestApp) -> None:
        await t.scheduler.pool("emails").enqueue_many(work, [(n,) for n in range(9)])
        other = await t.scheduler.pool("reports").enqueue(work)

        await t.run_due_jobs()

        assert t.job(other).state == "running"

    async def test_of_a_full_pool_delay_no_job_outside_a_pool(self, t: TestApp) -> None:
        await t.scheduler.pool("emails").enqueue_many(work, [(n,) for n in range(9)])
        action = await t.scheduler.run_after(NOW, work)
        mutation = await t.scheduler.run_after(NOW, note, "done")

        await t.run_due_jobs()

        assert t.job(action).state == "running"
        assert t.job(mutation).state == "succeeded"

    async def test_outside_a_pool_are_an_option_of_the_app(self, t: TestApp) -> None:
        jobs = [await t.scheduler.run_after(NOW, work) for _ in range(5)]
        pooled = await t.scheduler.pool("emails").enqueue(work)

        await t.run_due_jobs()

        states = [t.job(job).state for job in (*jobs, pooled)]
        assert states == ["running"] * 3 + ["pending"] * 2 + ["running"]

    def test_outside_a_pool_are_256_unless_given(self) -> None:
        assert RxFerrix(interactive=False).options.parallelism == 256

    async def test_count_threads_and_no_shared_limiter_does(self) -> None:
        wide = RxFerrix(interactive=False)
        wide.workpool(Workpool("threads", 60))
        action = wide.action(name="work_in_a_thread")(_wait_in_a_thread)
        async with TestApp(wide) as t:
            await t.scheduler.pool("threads").enqueue_many(action, [() for _ in range(70)])

            await t.run_due_jobs()

            assert running(t, "threads") == 60  # anyio's own limiter would stop at 40

    async def test_of_a_waiting_retry_are_free(self, t: TestApp) -> None:
        failed = await t.scheduler.pool("reports").with_retries(1).enqueue(failing)
        following = await t.scheduler.pool("reports").enqueue(work)

        await t.run_due_jobs()

        assert (t.job(failed).state, t.job(failed).attempt) == ("pending", 1)
        assert t.job(following).state == "running"

    async def test_are_free_again_after_a_crash(self, t: TestApp) -> None:
        await t.scheduler.pool("reports").enqueue(work)
        await t.run_due_jobs()

        await t.restart()
        following = await t.scheduler.pool("reports").enqueue(work)
        await t.run_due_jobs()

        assert t.job(following).state == "running"

    async def test_wait_for_the_canceled_to_end(self, t: TestApp) -> None:
        first = await t.scheduler.pool("reports").enqueue(work)
        following = await t.scheduler.pool("reports").enqueue(work)
        await t.run_due_jobs()

        t.cancel(first)
        await t.advance_time(timedelta(seconds=4))
        assert t.job(following).state == "pending"
        await t.advance_time(SECOND)

        assert t.job(first).state == "canceled"
        assert t.job(following).state == "running"


def _wait_in_a_thread(ctx: SyncActionCtx) -> None:
    ctx.sleep(MINUTE)


class TestFairness:
    async def test_100_000_queued_jobs_delay_no_other_pool_and_no_plain_job(
        self, t: TestApp
    ) -> None:
        flood = await t.scheduler.pool("emails").enqueue_many(work, ((n,) for n in range(MANY)))
        await t.run_due_jobs()
        other = await t.scheduler.pool("reports").enqueue(work)
        plain = await t.scheduler.run_after(NOW, note, "at once")
        later = await t.scheduler.run_after(SECOND, note, "in time")

        ran = await t.advance_time(SECOND)

        assert ran == [other, plain, later]
        assert len(flood) == MANY
        assert t.job(later).finished_at == t.now()

    async def test_the_flood_itself_goes_on_in_order(self, t: TestApp) -> None:
        flood = await t.scheduler.pool("emails").enqueue_many(work, ((n,) for n in range(30_000)))

        ran = await t.advance_time(2 * MINUTE)

        assert ran == flood[:6]


class TestOnlyActions:
    async def test_are_pooled(self, t: TestApp) -> None:
        with pytest.raises(NotSchedulableError, match="pools hold only actions"):
            await t.scheduler.pool("emails").enqueue(note, "x")  # type: ignore[arg-type]

        assert t.jobs().empty

    async def test_of_a_declared_pool(self, t: TestApp) -> None:
        with pytest.raises(UnknownPoolError, match="letters"):
            t.scheduler.pool("letters")


class TestEnqueueMany:
    async def test_makes_thousands_of_jobs_in_one_commit(self, t: TestApp) -> None:
        writer = t.runtime.engine.writer
        before = writer.commits

        jobs = await t.scheduler.pool("emails").enqueue_many(quick, ((n,) for n in range(5000)))

        assert writer.commits - before == 1
        assert jobs == sorted(set(jobs))
        assert len(jobs) == 5000

    async def test_is_part_of_a_mutation(self, t: TestApp) -> None:
        with pytest.raises(LookupError):
            await t.run_mutation(enqueue_and_raise)

        assert t.jobs().empty

    async def test_makes_none_where_one_does_not_fit(self, t: TestApp) -> None:
        calls: list[tuple[object, ...]] = [(1,), (2,), ("three",)]

        with pytest.raises(ArgumentsError, match="_number"):
            await t.scheduler.pool("emails").enqueue_many(quick, calls)

        assert t.jobs().empty

    async def test_takes_tuples_and_says_so(self, t: TestApp) -> None:
        with pytest.raises(ArgumentsError, match="tuple"):
            await t.scheduler.pool("emails").enqueue_many(quick, [1, 2])  # type: ignore[list-item]

    async def test_of_nothing_makes_nothing(self, t: TestApp) -> None:
        assert await t.scheduler.pool("emails").enqueue_many(quick, []) == []

    async def test_from_a_thread_is_one_commit_too(self, t: TestApp) -> None:
        await t.scheduler.run_after(NOW, enqueueing_in_a_thread)

        await t.run_due_jobs()

        commits = t.sql(
            "SELECT count(*) AS jobs FROM _scheduled_jobs WHERE state = 'pending' GROUP BY revision"
        )
        assert commits["jobs"].tolist() == [1999]  # and one of the 2000 runs already


@app.mutation
def enqueue_and_raise(ctx: MutationCtx) -> None:
    ctx.scheduler.pool("emails").enqueue_many(quick, [(1,), (2,)])
    raise LookupError


@app.action
def enqueueing_in_a_thread(ctx: SyncActionCtx) -> None:
    ctx.scheduler.pool("reports").enqueue_many(work, [(n,) for n in range(2000)])
    ctx.sleep(SECOND)


class TestCancelPool:
    """6.4: all that is queued or running at that moment, in one transaction; no later job."""

    async def fill(self, t: TestApp) -> list[JobId]:
        pool = t.scheduler.pool("emails")
        retrying = await pool.with_retries(1).enqueue(failing)
        running = await pool.enqueue_many(work, [(1,), (2,)])
        await t.run_due_jobs()
        queued = await pool.enqueue(work)
        later = await pool.enqueue_after(HOUR, work)
        return [retrying, *running, queued, later]

    async def test_returns_how_many_were_queued_and_running(self, t: TestApp) -> None:
        await self.fill(t)

        assert t.cancel_pool("emails") == PoolCancellation(queued=3, running=2)

    async def test_cancels_each_of_them(self, t: TestApp) -> None:
        jobs = await self.fill(t)

        t.cancel_pool("emails")
        await t.advance_time(MINUTE)

        assert {t.job(job).state for job in jobs} == {"canceled"}

    async def test_is_one_transaction(self, t: TestApp) -> None:
        await self.fill(t)
        before = t.runtime.engine.writer.commits

        t.cancel_pool("emails")

        assert t.runtime.engine.writer.commits - before == 1

    async def test_leaves_jobs_that_were_enqueued_later(self, t: TestApp) -> None:
        await self.fill(t)
        t.cancel_pool("emails")

        later = await t.scheduler.pool("emails").enqueue(work)
        await t.advance_time(2 * MINUTE)

        assert t.job(later).state == "succeeded"

    async def test_leaves_other_pools_and_plain_jobs(self, t: TestApp) -> None:
        other = await t.scheduler.pool("reports").enqueue(work)
        plain = await t.scheduler.run_after(HOUR, work)
        await self.fill(t)

        t.cancel_pool("emails")

        assert [t.job(job).state for job in (other, plain)] == ["running", "pending"]

    async def test_a_second_time_finds_nothing(self, t: TestApp) -> None:
        await self.fill(t)
        t.cancel_pool("emails")

        assert t.cancel_pool("emails") == PoolCancellation(queued=0, running=0)

    async def test_in_a_mutation_is_rolled_back_with_it(self, t: TestApp) -> None:
        jobs = await self.fill(t)
        states = [t.job(job).state for job in jobs]

        with pytest.raises(LookupError):
            await t.run_mutation(cancel_pool_and, raising=True)

        assert [t.job(job).state for job in jobs] == states
        await t.advance_time(timedelta(seconds=10))
        assert "canceled" not in [t.job(job).state for job in jobs]

    async def test_in_a_mutation_leaves_what_it_enqueues_after(self, t: TestApp) -> None:
        await t.run_mutation(cancel_pool_and, raising=False)

        await t.run_due_jobs()

        jobs = t.jobs(function="quick").sort_values("id")
        assert jobs["state"].tolist() == ["canceled", "succeeded"]

    async def test_in_an_action_is_awaited(self, t: TestApp) -> None:
        await self.fill(t)
        job = await t.scheduler.run_after(NOW, canceling_a_pool)

        await t.run_due_jobs()

        assert t.job(job).result == {"queued": 3, "running": 2}

    async def test_of_an_unknown_pool_is_refused(self, t: TestApp) -> None:
        with pytest.raises(UnknownPoolError):
            t.cancel_pool("letters")

    async def test_is_for_operators(self, t: TestApp) -> None:
        with pytest.raises(PermissionDeniedError):
            t.as_user(Identity("viewer")).cancel_pool("emails")

        operator = t.as_user(Identity("boss", admin=True))
        assert operator.cancel_pool("emails") == PoolCancellation(0, 0)


@app.mutation
def cancel_pool_and(ctx: MutationCtx, raising: bool) -> None:
    ctx.scheduler.pool("emails").enqueue(quick, 1)
    ctx.scheduler.cancel_pool("emails")
    ctx.scheduler.pool("emails").enqueue(quick, 2)
    if raising:
        raise LookupError


@app.action
async def canceling_a_pool(ctx: ActionCtx) -> PoolCancellation:
    return await ctx.scheduler.cancel_pool("emails")
