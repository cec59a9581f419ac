"""Attempts: when a slot is given back, what a caller gets, and actions inside actions."""

import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import Future
from datetime import timedelta
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx, QueryCtx, SyncActionCtx
from rxferrix_lab.app.functions import Action
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.errors import ActionCanceled, DeadContextError
from rxferrix_lab.testing import TestApp

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)

app = RxFerrix(interactive=False)
app.table("notes", "text VARCHAR")
app.workpool(Workpool("one", 1))


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text})


@app.query
def notes(ctx: QueryCtx) -> list[str]:
    return [text for (text,) in ctx.db.sql("SELECT text FROM notes ORDER BY id").fetchall()]


@app.action
async def quick(_ctx: ActionCtx) -> str:
    return "quick"


@app.action
async def failing(_ctx: ActionCtx) -> str:
    raise LookupError("as it was raised")


@app.action(timeout=SECOND)
async def slow(ctx: ActionCtx) -> str:
    await ctx.sleep(HOUR)
    return "slow"


@app.action(timeout=SECOND)
async def told_too_late(ctx: ActionCtx) -> str:
    await ctx.canceled()
    return "in the grace"


@app.action
def quick_in_a_thread(_ctx: SyncActionCtx) -> str:
    return threading.current_thread().name


@app.action
def slow_in_a_thread(ctx: SyncActionCtx) -> str:
    ctx.sleep(MINUTE)
    return "slept"


@app.action
async def outer(ctx: ActionCtx, name: str) -> str:
    return await ctx.run_action(INNER[name])


@app.action
def outer_in_a_thread(ctx: SyncActionCtx, name: str) -> str:
    return ctx.run_action(INNER[name])


Way = Action[[str], str]
INNER: dict[str, Action[[], str]] = {
    "quick": quick,
    "failing": failing,
    "slow": slow,
    "quick_in_a_thread": quick_in_a_thread,
    "slow_in_a_thread": slow_in_a_thread,
}


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as stepped:
        yield stepped


def slots_in_use(t: TestApp) -> int:
    return sum(lane.in_use for lane in t.runtime.engine.lanes)


def log_of(t: TestApp, function: str) -> list[tuple[str, str]]:
    rows = t.sql(
        "SELECT outcome, coalesce(error, '') AS error FROM _execution_log WHERE function = $name",
        name=function,
    )
    return list(zip(rows["outcome"], rows["error"], strict=True))


class TestASlot:
    @pytest.mark.parametrize("name", ["quick", "failing", "quick_in_a_thread"])
    async def test_is_given_back_when_the_body_has_ended(self, t: TestApp, name: str) -> None:
        await t.scheduler.run_after(NOW, INNER[name])

        await t.run_due_jobs()

        assert slots_in_use(t) == 0
        assert not t.runtime.engine.attempts.alive
        assert not t.runtime.engine.attempts.running()

    async def test_is_given_back_to_a_job_that_has_no_function(self, tmp_path: Path) -> None:
        async with TestApp(app, database=tmp_path / "app.duckdb") as t:
            await t.scheduler.run_after(NOW, quick)
        async with TestApp(
            RxFerrix(interactive=False), database=tmp_path / "app.duckdb"
        ) as without:
            await without.run_due_jobs()

            assert slots_in_use(without) == 0

    async def test_and_the_outcome_take_one_commit_with_the_next_claim(
        self, tmp_path: Path
    ) -> None:
        jobs = 20
        real = RxFerrix(tmp_path / "app.duckdb", interactive=False)
        real.workpool(Workpool("one", 0))
        action = real.action(name="quick")(_quickly)
        async with real:
            ids = await real.scheduler.pool("one").enqueue_many(action, [()] * jobs)
            writer = real._runtime.engine.writer  # pyright: ignore[reportPrivateUsage]  # counts
            real.resize_pool("one", 1)
            before = writer.commits
            for job in ids:
                await real.wait(job)

            assert writer.commits - before <= jobs + 2  # one at each end


async def _quickly(_ctx: ActionCtx) -> None:
    return None


class TestACalledAction:
    async def test_gives_its_result(self, t: TestApp) -> None:
        assert await t.run_action(quick) == "quick"

    async def test_raises_what_it_raised(self, t: TestApp) -> None:
        with pytest.raises(LookupError, match="as it was raised"):
            await t.run_action(failing)

        ((outcome, error),) = log_of(t, "failing")
        assert outcome == "failed"
        assert "as it was raised" in error

    @pytest.mark.parametrize(("action", "after"), [(slow, 6), (told_too_late, 1)])
    async def test_that_ran_too_long_is_a_timeout_error(
        self, t: TestApp, action: Action[[], str], after: int
    ) -> None:
        raised: list[BaseException] = []

        async def call() -> None:
            try:
                await t.run_action(action)
            except TimeoutError as error:
                raised.append(error)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call)
            await anyio.lowlevel.checkpoint()
            await t.advance_time(timedelta(seconds=after))

        assert len(raised) == 1
        assert [outcome for outcome, _ in log_of(t, action.name)] == ["failed"]

    async def test_takes_no_slot(self, t: TestApp) -> None:
        await t.run_action(quick)

        assert slots_in_use(t) == 0
        assert not t.runtime.engine.attempts.alive


class TestAnActionInsideAnother:
    @pytest.mark.parametrize("way", [outer, outer_in_a_thread])
    @pytest.mark.parametrize("name", ["quick", "slow_in_a_thread"])
    async def test_gives_its_result(self, t: TestApp, way: Way, name: str) -> None:
        job = await t.scheduler.run_after(NOW, way, name)

        await t.advance_time(MINUTE)

        assert t.job(job).state == "succeeded"
        assert t.job(job).result == {"quick": "quick", "slow_in_a_thread": "slept"}[name]

    @pytest.mark.parametrize("way", [outer, outer_in_a_thread])
    async def test_raises_what_it_raised(self, t: TestApp, way: Way) -> None:
        job = await t.scheduler.run_after(NOW, way, "failing")

        await t.run_due_jobs()

        error = t.job(job).error
        assert error is not None
        assert (error.type, error.message) == ("LookupError", "as it was raised")

    @pytest.mark.parametrize("way", [outer, outer_in_a_thread])
    async def test_is_cut_off_at_its_own_timeout(self, t: TestApp, way: Way) -> None:
        job = await t.scheduler.run_after(NOW, way, "slow")

        await t.advance_time(SECOND)

        error = t.job(job).error
        assert error is not None
        assert error.type == "TimeoutError"

    async def test_has_a_row_of_its_own_in_the_log(self, t: TestApp) -> None:
        await t.scheduler.run_after(NOW, outer, "quick")

        await t.run_due_jobs()

        assert log_of(t, "quick") == log_of(t, "outer") == [("succeeded", "")]

    @pytest.mark.parametrize("way", [outer, outer_in_a_thread])
    async def test_is_stopped_by_what_stops_the_outer(self, t: TestApp, way: Way) -> None:
        job = await t.scheduler.run_after(NOW, way, "slow_in_a_thread")
        await t.run_due_jobs()

        t.cancel(job)
        await t.advance_time(timedelta(seconds=5))
        while t.runtime.engine.attempts.stragglers():
            await anyio.lowlevel.checkpoint()

        assert t.job(job).state == "canceled"
        assert slots_in_use(t) == 0


class TestThreads:
    async def test_have_the_name_of_their_action(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, quick_in_a_thread)

        await t.run_due_jobs()

        assert t.job(job).result == "rxferrix action quick_in_a_thread"

    async def test_wait_no_longer_once_the_app_has_crashed(self, t: TestApp) -> None:
        woken: Future[str] = Future()
        _told[:] = [woken.set_result]
        await t.scheduler.run_after(NOW, sleeping_through_a_crash)
        await t.run_due_jobs()

        await t.restart()
        while not woken.done():
            await anyio.lowlevel.checkpoint()

        assert woken.result() == "woken"


_told: list[Callable[[str], None]] = []


@app.action
def sleeping_through_a_crash(ctx: SyncActionCtx) -> None:
    try:
        ctx.sleep(HOUR)
    except ActionCanceled:
        _told[0]("woken")


class TestAStaleOutcome:
    async def test_of_an_attempt_that_a_restart_has_ended_changes_nothing(self, t: TestApp) -> None:
        job: JobId = await t.scheduler.run_after(NOW, slow_in_a_thread)
        await t.run_due_jobs()
        await t.restart()
        ended = t.job(job)

        await t.advance_time(HOUR)

        assert ended.state == "failed"
        assert t.job(job) == ended


class TestItsContext:
    @pytest.mark.parametrize("verb", ["mutation", "query", "schedule", "cancel"])
    async def test_is_dead_once_the_action_has_ended(self, t: TestApp, verb: str) -> None:
        await t.run_action(leaking)
        ctx = _leaked[-1]
        calls: dict[str, Callable[[], Awaitable[object]]] = {
            "mutation": lambda: ctx.run_mutation(note, "late"),
            "query": lambda: ctx.run_query(notes),
            "schedule": lambda: ctx.scheduler.run_after(NOW, note, "late"),
            "cancel": lambda: ctx.scheduler.cancel(JobId(1)),
        }

        with pytest.raises(DeadContextError, match="leaking"):
            await calls[verb]()


_leaked: list[ActionCtx] = []


@app.action
async def leaking(ctx: ActionCtx) -> None:
    _leaked.append(ctx)
