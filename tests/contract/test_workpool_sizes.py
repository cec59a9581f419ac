"""Contract 6.1 and 6.5: what a pool declares, its defaults, and sizes that change while it runs."""

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx
from rxferrix_lab.app.functions import Action
from rxferrix_lab.domain.backoff import Backoff
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.engine.program import Identity
from rxferrix_lab.errors import (
    DuplicateNameError,
    PermissionDeniedError,
    RetriesError,
    UnknownPoolError,
)
from rxferrix_lab.testing import START, TestApp

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
CALM = Backoff(initial=timedelta(seconds=10), jitter=(1, 1))

Work = Action[[], None]


async def _work(ctx: ActionCtx) -> None:
    await ctx.sleep(MINUTE)


async def _failing(_ctx: ActionCtx) -> None:
    raise LookupError


def app_with(*pools: Workpool) -> tuple[RxFerrix, Work, Work]:
    app = RxFerrix(interactive=False)
    for pool in pools:
        app.workpool(pool)
    return app, app.action(name="work")(_work), app.action(name="failing")(_failing)


def states(t: TestApp, jobs: list[JobId]) -> list[str]:
    return [t.job(job).state for job in jobs]


def sizes(t: TestApp) -> dict[str, int]:
    rows = t.sql("SELECT name, max_parallelism FROM _workpools ORDER BY name")
    return dict(zip(rows["name"], rows["max_parallelism"], strict=True))


class TestDefaults:
    """6.2: pool defaults apply where the job says nothing."""

    @pytest.fixture
    async def t(self) -> AsyncIterator[TestApp]:
        self.app, _, self.failing = app_with(
            Workpool("emails", 5, retries=2, backoff=CALM), Workpool("plain", 5)
        )
        async with TestApp(self.app) as stepped:
            yield stepped

    async def test_retries_are_the_pools(self, t: TestApp) -> None:
        job = await t.scheduler.pool("emails").enqueue(self.failing)

        await t.advance_time(timedelta(hours=1))

        assert (t.job(job).state, t.job(job).attempt, t.job(job).max_attempts) == ("failed", 3, 3)

    async def test_retries_of_a_pool_that_says_nothing_are_none(self, t: TestApp) -> None:
        job = await t.scheduler.pool("plain").enqueue(self.failing)

        await t.run_due_jobs()

        assert (t.job(job).state, t.job(job).attempt) == ("failed", 1)

    @pytest.mark.parametrize("retries", [0, 1, 4])
    async def test_retries_of_the_job_win(self, t: TestApp, retries: int) -> None:
        job = await t.scheduler.pool("emails").with_retries(retries).enqueue(self.failing)

        await t.advance_time(timedelta(hours=1))

        assert t.job(job).attempt == retries + 1

    async def test_retries_of_the_scheduler_win_too(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(1).pool("emails").enqueue(self.failing)

        await t.advance_time(timedelta(hours=1))

        assert t.job(job).attempt == 2

    async def test_backoff_is_the_pools(self, t: TestApp) -> None:
        job = await t.scheduler.pool("emails").enqueue(self.failing)

        begun: list[datetime | None] = []
        for _ in range(3):
            await t.run_due_jobs()
            begun.append(t.job(job).started_at)
            await t.advance_time(t.job(job).due_at - t.now())

        assert begun == [START, START + 10 * SECOND, START + 30 * SECOND]

    @pytest.mark.parametrize("retries", [-1, True, 10_001, 1.5])
    async def test_that_cannot_be_meant_are_refused(self, t: TestApp, retries: int) -> None:
        with pytest.raises(RetriesError):
            t.scheduler.pool("emails").with_retries(retries)
        with pytest.raises(RetriesError):
            Workpool("pool", 1, retries=retries)


class TestResizing:
    """6.5: `max_parallelism` can be changed while running."""

    @pytest.fixture
    async def t(self) -> AsyncIterator[TestApp]:
        self.app, self.work, _ = app_with(Workpool("emails", 2))
        async with TestApp(self.app) as stepped:
            yield stepped

    async def fill(self, t: TestApp, jobs: int = 4) -> list[JobId]:
        return await t.scheduler.pool("emails").enqueue_many(self.work, [()] * jobs)

    async def test_to_more_begins_more_at_once(self, t: TestApp) -> None:
        jobs = await self.fill(t)
        await t.run_due_jobs()

        t.resize_pool("emails", 3)
        await t.run_due_jobs()

        assert states(t, jobs) == ["running"] * 3 + ["pending"]

    async def test_to_fewer_stops_nothing_that_runs(self, t: TestApp) -> None:
        jobs = await self.fill(t)
        await t.run_due_jobs()

        t.resize_pool("emails", 1)
        await t.run_due_jobs()

        assert states(t, jobs) == ["running"] * 2 + ["pending"] * 2

    async def test_to_fewer_begins_fewer_from_then_on(self, t: TestApp) -> None:
        jobs = await self.fill(t)
        await t.run_due_jobs()

        t.resize_pool("emails", 1)
        await t.advance_time(MINUTE)

        assert states(t, jobs) == ["succeeded"] * 2 + ["running", "pending"]

    async def test_to_nothing_pauses(self, t: TestApp) -> None:
        t.resize_pool("emails", 0)
        jobs = await self.fill(t)

        await t.advance_time(timedelta(days=1))
        assert states(t, jobs) == ["pending"] * 4
        t.resize_pool("emails", 4)
        await t.run_due_jobs()

        assert states(t, jobs) == ["running"] * 4

    async def test_outlives_a_restart(self, t: TestApp) -> None:
        t.resize_pool("emails", 3)

        await t.restart()
        jobs = await self.fill(t)
        await t.run_due_jobs()

        assert states(t, jobs) == ["running"] * 3 + ["pending"]

    async def test_is_for_operators(self, t: TestApp) -> None:
        with pytest.raises(PermissionDeniedError):
            t.as_user(Identity("viewer")).resize_pool("emails", 3)

        assert sizes(t) == {"emails": 2}

    async def test_of_an_unknown_pool_is_refused(self, t: TestApp) -> None:
        with pytest.raises(UnknownPoolError):
            t.resize_pool("letters", 3)

    @pytest.mark.parametrize("slots", [-1, 100_001, True])
    async def test_to_what_is_no_size_is_refused(self, t: TestApp, slots: int) -> None:
        with pytest.raises(ValueError, match="max_parallelism"):
            t.resize_pool("emails", slots)


class TestDeclaredAgain:
    """6.5: the new size outlives a restart, until the declaration in the code changes."""

    async def test_with_the_same_size_keeps_the_operators(self, tmp_path: Path) -> None:
        await self._run_and_resize(tmp_path / "app.duckdb")

        app, _, _ = app_with(Workpool("emails", 2))
        async with TestApp(app, database=tmp_path / "app.duckdb") as t:
            assert sizes(t) == {"emails": 7}

    async def test_with_another_size_takes_the_declared(self, tmp_path: Path) -> None:
        await self._run_and_resize(tmp_path / "app.duckdb")

        app, _, _ = app_with(Workpool("emails", 3))
        async with TestApp(app, database=tmp_path / "app.duckdb") as t:
            assert sizes(t) == {"emails": 3}

    async def _run_and_resize(self, path: Path) -> None:
        app, _, _ = app_with(Workpool("emails", 2))
        async with TestApp(app, database=path) as t:
            t.resize_pool("emails", 7)


class TestNoLongerDeclared:
    """6.5: it keeps its size and its jobs until they end; enqueueing to it is refused."""

    @pytest.fixture
    async def left_behind(self, tmp_path: Path) -> Path:
        path = tmp_path / "app.duckdb"
        app, work, _ = app_with(Workpool("old", 2))
        async with TestApp(app, database=path) as t:
            await t.scheduler.pool("old").enqueue_many(work, [()] * 3)
        return path

    async def test_keeps_its_size_and_its_jobs(self, left_behind: Path) -> None:
        app, _, _ = app_with()
        async with TestApp(app, database=left_behind) as t:
            await t.run_due_jobs()

            assert sizes(t) == {"old": 2}
            assert sorted(t.jobs(pool="old")["state"]) == ["pending", "running", "running"]
            await t.advance_time(2 * MINUTE)
            assert set(t.jobs(pool="old")["state"]) == {"succeeded"}

    async def test_can_be_resized_and_canceled_until_then(self, left_behind: Path) -> None:
        app, _, _ = app_with()
        async with TestApp(app, database=left_behind) as t:
            t.resize_pool("old", 0)
            await t.run_due_jobs()

            assert t.cancel_pool("old").queued == 3

    async def test_refuses_new_jobs(self, left_behind: Path) -> None:
        app, _, _ = app_with()
        async with TestApp(app, database=left_behind) as t:
            with pytest.raises(UnknownPoolError, match="old"):
                t.scheduler.pool("old")

    async def test_refuses_a_job_that_is_to_run_again(self, left_behind: Path) -> None:
        app, _, _ = app_with()
        async with TestApp(app, database=left_behind) as t:
            t.cancel_pool("old")
            job = JobId(int(t.jobs(pool="old")["id"].iloc[0]))

            with pytest.raises(UnknownPoolError, match="old"):
                t.rerun(job)

    async def test_is_forgotten_once_its_jobs_have_ended(self, left_behind: Path) -> None:
        app, _, _ = app_with()
        async with TestApp(app, database=left_behind) as t:
            await t.advance_time(2 * MINUTE)
            await t.restart()

            assert sizes(t) == {}


class TestDeclaring:
    @pytest.mark.parametrize("name", ["", " ", "x" * 201])
    def test_a_name_that_is_none_is_refused(self, name: str) -> None:
        with pytest.raises(ValueError, match="a workpool's name"):
            Workpool(name, 1)

    @pytest.mark.parametrize("slots", [-1, 100_001, True, 1.5])
    def test_a_size_that_is_none_is_refused(self, slots: int) -> None:
        with pytest.raises(ValueError, match="max_parallelism"):
            Workpool("pool", slots)

    def test_a_name_twice_is_refused(self) -> None:
        app, _, _ = app_with(Workpool("pool", 1))

        with pytest.raises(DuplicateNameError):
            app.workpool(Workpool("pool", 2))

    async def test_a_backoff_of_the_wrong_type_is_refused(self) -> None:
        with pytest.raises(TypeError, match="backoff"):
            Workpool("pool", 1, backoff=5)  # type: ignore[arg-type]
