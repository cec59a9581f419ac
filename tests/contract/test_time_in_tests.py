"""Contract 8, sentence by sentence, on asyncio and on trio."""

import asyncio  # noqa: TID251  # actions of users may use it, and virtual time has to bear that
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import duckdb
import pytest

from rxferrix_lab import (
    ActionCtx,
    InstantError,
    JobId,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    TestApp,
    VirtualTimeError,
    Workpool,
    WorkResult,
)

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)

app = RxFerrix()
app.table("notes", "text VARCHAR, noted_at TIMESTAMPTZ")
app.workpool(Workpool("pool", max_parallelism=3, retries=2))


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text, "noted_at": ctx.now()})


@app.mutation
def draw(ctx: MutationCtx) -> None:
    ctx.db.insert("notes", {"text": str(ctx.random.random()), "noted_at": ctx.now()})


@app.mutation
def chain(ctx: MutationCtx, links: int) -> None:
    ctx.db.insert("notes", {"text": f"link {links}", "noted_at": ctx.now()})
    if links:
        ctx.scheduler.run_after(NOW, chain, links - 1)


@app.mutation
def forever(ctx: MutationCtx) -> None:
    ctx.scheduler.run_after(NOW, forever)


@app.query
def notes(ctx: QueryCtx) -> list[str]:
    return [text for (text,) in ctx.db.sql("SELECT text FROM notes ORDER BY id").fetchall()]


@app.mutation(internal=True)
def done(ctx: MutationCtx, work: JobId, text: str, result: WorkResult[None]) -> None:
    ctx.db.insert("notes", {"text": f"{text} {type(result).__name__}", "noted_at": ctx.now()})


@app.action
async def nap(ctx: ActionCtx, text: str, seconds: float) -> None:
    await ctx.run_mutation(note, f"{text} sleeps")
    await ctx.sleep(timedelta(seconds=seconds))
    await ctx.run_mutation(note, f"{text} wakes")


@app.action
def nap_in_a_thread(ctx: SyncActionCtx, text: str, seconds: float) -> None:
    ctx.run_mutation(note, f"{text} sleeps")
    ctx.sleep(timedelta(seconds=seconds))
    ctx.run_mutation(note, f"{text} wakes")


@app.action
async def until_canceled(ctx: ActionCtx, text: str) -> None:
    await ctx.canceled()
    with ctx.cleanup():
        await ctx.run_mutation(note, f"{text} tidies up")


@app.action
async def fail_twice(ctx: ActionCtx) -> None:
    if ctx.attempt < 3:
        await ctx.run_mutation(draw)
        raise ValueError(f"attempt {ctx.attempt}")


@app.action
async def stubborn(ctx: ActionCtx) -> None:
    while True:
        await ctx.sleep(7 * HOUR)


@app.mutation
def cancel_all(ctx: MutationCtx) -> None:
    ctx.scheduler.cancel_pool("pool")


app.cron_tz("daily", "0 30 2 * * *", "Europe/Bucharest", note, "daily")
app.interval("hourly", HOUR, note, "hourly")


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(bare) as entered:
        yield entered


# The same functions without the crons, for tests that count what happens.
bare = RxFerrix()
bare.table("notes", "text VARCHAR, noted_at TIMESTAMPTZ")
bare.workpool(Workpool("pool", max_parallelism=3, retries=2))
for registered in tuple(app.registry.functions.values()):
    bare.registry.add_function(registered)


async def at(t: TestApp) -> list[tuple[str, timedelta]]:
    """Each note with when it was written, from the start."""
    frame = t.sql("SELECT text, noted_at FROM notes ORDER BY id")
    return [(text, when.to_pydatetime() - START) for text, when in frame.itertuples(index=False)]


class TestOneClock:
    """8.1"""

    async def test_mutations_and_actions_see_it(self, t: TestApp) -> None:
        await t.scheduler.run_after(HOUR, nap, "a", 60)

        await t.advance_time(2 * HOUR)

        assert await at(t) == [("a sleeps", HOUR), ("a wakes", HOUR + MINUTE)]

    async def test_grace_is_measured_on_it(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, stubborn)
        await t.run_due_jobs()
        await t.scheduler.cancel(job)

        await t.advance_time(5 * SECOND - timedelta(microseconds=1))
        before = t.job(job).state
        await t.advance_time(timedelta(microseconds=1))

        assert (before, t.job(job).state) == ("canceling", "canceled")
        assert t.job(job).finished_at == START + 5 * SECOND


class TestRunDueJobs:
    """8.2"""

    async def test_it_runs_what_is_due_and_what_that_makes_due(self, t: TestApp) -> None:
        first = await t.scheduler.run_after(NOW, chain, 3)

        ran = await t.run_due_jobs()

        assert ran == [first, first + 1, first + 2, first + 3]
        assert await t.run_query(notes) == ["link 3", "link 2", "link 1", "link 0"]

    async def test_it_leaves_the_clock_and_later_jobs_alone(self, t: TestApp) -> None:
        await t.scheduler.run_after(SECOND, note, "later")

        assert await t.run_due_jobs() == []
        assert t.now() == START

    async def test_a_job_that_was_canceled_did_not_run(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(SECOND, note, "a")
        await t.scheduler.cancel(job)

        assert await t.advance_time(MINUTE) == []

    async def test_nothing_runs_between_steps(self, t: TestApp) -> None:
        await t.scheduler.run_after(NOW, note, "a")
        await anyio.wait_all_tasks_blocked()

        assert await t.run_query(notes) == []


class TestAdvanceTime:
    """8.2"""

    async def test_every_instant_is_visited_in_order(self, t: TestApp) -> None:
        for seconds in (30, 10, 20):
            await t.scheduler.run_after(seconds * SECOND, nap, str(seconds), 15)

        await t.advance_time(MINUTE)

        assert await at(t) == [
            ("10 sleeps", 10 * SECOND),
            ("20 sleeps", 20 * SECOND),
            ("10 wakes", 25 * SECOND),
            ("30 sleeps", 30 * SECOND),
            ("20 wakes", 35 * SECOND),
            ("30 wakes", 45 * SECOND),
        ]

    async def test_it_stands_at_the_end_afterwards(self, t: TestApp) -> None:
        await t.advance_time(HOUR)

        assert t.now() == START + HOUR

    async def test_what_was_due_before_runs_first_and_at_its_own_time(self, t: TestApp) -> None:
        await t.scheduler.run_after(NOW, note, "now")

        await t.advance_time(HOUR)

        assert await at(t) == [("now", NOW)]

    async def test_an_occurrence_exactly_at_the_end_runs(self) -> None:
        async with TestApp(app) as t:
            await t.advance_time(HOUR)

            assert ("hourly", HOUR) in await at(t)

    async def test_a_job_exactly_at_the_end_runs_and_one_later_does_not(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(HOUR, note, "a")
        await t.scheduler.run_after(HOUR + timedelta(microseconds=1), note, "b")

        assert await t.advance_time(HOUR) == [job]

    async def test_a_sleep_that_ends_exactly_at_the_end_ends(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, nap, "a", 60)

        await t.advance_time(MINUTE)

        assert t.job(job).state == "succeeded"

    async def test_many_small_steps_do_what_one_large_one_does(self) -> None:
        async def rows(steps: int) -> dict[str, list[tuple[Any, ...]]]:
            async with TestApp(app) as t:
                await t.scheduler.run_after(90 * MINUTE, nap, "a", 1000)
                for _ in range(steps):
                    await t.advance_time(DAY / steps)
                found = tables(t)
            found.pop("_id_blocks")
            return {name: without_revision(name, kept) for name, kept in found.items()}

        assert await rows(1) == await rows(36)

    @pytest.mark.parametrize("duration", [-SECOND, 60, None])
    async def test_time_only_goes_on(self, t: TestApp, duration: object) -> None:
        with pytest.raises(InstantError):
            await t.advance_time(duration)  # type: ignore[arg-type]  # what is refused

    async def test_a_year_takes_no_real_time_to_speak_of(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, nap, "a", 3600 * 24 * 365)

        await t.advance_time(366 * DAY)

        assert t.sql("SELECT count(*) AS n FROM notes")["n"][0] == 2
        assert job not in set(t.jobs(state="running")["id"])


class TestStartInOrder:
    """8.2: what is due at one instant starts in order, each running until it ends or waits."""

    async def test_each_goes_on_until_it_waits_before_the_next_starts(self, t: TestApp) -> None:
        for name in "abc":
            await t.scheduler.run_after(NOW, nap, name, 60)

        await t.advance_time(HOUR)

        assert await t.run_query(notes) == [
            "a sleeps",
            "b sleeps",
            "c sleeps",
            "a wakes",
            "b wakes",
            "c wakes",
        ]

    async def test_threads_and_tasks_take_their_turns_alike(self, t: TestApp) -> None:
        await t.scheduler.run_after(NOW, nap_in_a_thread, "a", 60)
        await t.scheduler.run_after(NOW, nap, "b", 60)
        await t.scheduler.run_after(NOW, nap_in_a_thread, "c", 60)

        await t.advance_time(HOUR)

        assert [text for text, _ in await at(t)] == [
            "a sleeps",
            "b sleeps",
            "c sleeps",
            "a wakes",
            "b wakes",
            "c wakes",
        ]

    async def test_what_is_canceled_at_one_instant_stops_in_order(self, t: TestApp) -> None:
        for name in "abc":
            await t.scheduler.pool("pool").enqueue(until_canceled, name)
        await t.run_due_jobs()

        await t.run_mutation(cancel_all)
        await t.run_due_jobs()

        assert await t.run_query(notes) == ["a tidies up", "b tidies up", "c tidies up"]


# --- the same rows, byte for byte ---------------------------------------------------------------
def tables(t: TestApp) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table, the scheduler's own included."""

    def look(connection: duckdb.DuckDBPyConnection) -> dict[str, list[tuple[Any, ...]]]:
        names = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY ALL").fetchall()
        return {
            name: connection.execute(f'SELECT * FROM "{name}" ORDER BY ALL').fetchall()
            for (name,) in names
        }

    return t.runtime.engine.store.read(look)


def without_revision(name: str, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows without the number of the commit, which depends on how many there were."""
    return [row[:-1] for row in rows] if name == "_scheduled_jobs" else rows


async def busy_days(seed: int = 0) -> dict[str, list[tuple[Any, ...]]]:
    """A program with a bit of everything, stepped the same way each time."""
    async with TestApp(app, seed=seed) as t:
        pool = t.scheduler.pool("pool")
        for number in range(8):
            await pool.on_complete(done, f"job {number}").enqueue(nap, f"nap {number}", 40.5)
            await pool.on_complete(done, f"failing {number}").enqueue(fail_twice)
        waiting = [await pool.enqueue_after(DAY, until_canceled, str(n)) for n in range(3)]
        await t.scheduler.run_after(HOUR, nap_in_a_thread, "thread", 1)
        await t.scheduler.run_after(NOW, stubborn)
        await t.scheduler.run_after(NOW, chain, 5)
        await t.advance_time(DAY)
        await t.scheduler.cancel(waiting[0])
        await t.run_mutation(cancel_all)
        await t.advance_time(HOUR)
        await t.restart(down_for=30 * HOUR)
        for _ in range(2):
            await t.run_mutation(draw)
            await t.advance_time(10 * HOUR)
        return tables(t)


@cache
def rows_of(backend: str, run: int, seed: int = 0) -> dict[str, list[tuple[Any, ...]]]:
    """What is stored after a run; each is made once, and the tests compare them."""
    del run
    return anyio.run(busy_days, seed, backend=backend)


class TestSameRows:
    """8.2: the same program, seed and steps give the same rows, byte for byte."""

    @pytest.mark.parametrize("backend", ["asyncio", "trio"])
    def test_twice_on_the_same_backend(self, backend: str) -> None:
        assert rows_of(backend, 1) == rows_of(backend, 2)

    def test_on_asyncio_as_on_trio(self) -> None:
        assert rows_of("asyncio", 1) == rows_of("trio", 1)

    def test_another_seed_gives_other_rows(self) -> None:
        assert rows_of("asyncio", 1) != rows_of("asyncio", 1, seed=1)

    async def test_a_stored_traceback_holds_the_users_frames_only(self, t: TestApp) -> None:
        jobs = [
            await t.scheduler.run_after(NOW, fail_in_a_helper),
            await t.scheduler.run_after(NOW, fail_in_a_thread),
            await t.scheduler.run_after(NOW, fail_in_a_mutation),
            await t.scheduler.run_after(NOW, fail_in_a_task),
        ]
        await t.run_due_jobs()

        for job in jobs:
            error = t.job(job).error
            assert error is not None
            files = [line for line in error.traceback.splitlines() if "File " in line]
            assert files
            assert [line for line in files if "test_time_in_tests.py" not in line] == []
            assert "in helper" in error.traceback


def helper() -> None:
    raise ValueError("boom")


@bare.action
async def fail_in_a_helper(ctx: ActionCtx) -> None:
    helper()


@bare.action
def fail_in_a_thread(ctx: SyncActionCtx) -> None:
    helper()


@bare.mutation
def fail_in_a_mutation(ctx: MutationCtx) -> None:
    helper()


@bare.action
async def fail_in_a_task(ctx: ActionCtx) -> None:
    async def inner() -> None:
        await ctx.sleep(NOW)
        helper()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(inner)


def files_in(folder: Path) -> list[Path]:
    return list(folder.iterdir())


class TestItsDatabase:
    """8.2"""

    async def test_it_never_touches_the_apps_own(self, tmp_path: Path) -> None:
        mine = RxFerrix(tmp_path / "app.duckdb")
        mine.table("notes", "text VARCHAR")

        async with TestApp(mine) as t:
            await t.advance_time(DAY)

        assert files_in(tmp_path) == []

    async def test_each_is_fresh(self) -> None:
        for _ in range(2):
            async with TestApp(bare) as t:
                assert await t.run_query(notes) == []
                await t.run_mutation(note, "a")

    async def test_it_uses_the_one_it_is_given(self, tmp_path: Path) -> None:
        for expected in ([], ["a"]):
            async with TestApp(bare, database=tmp_path / "given.duckdb") as t:
                assert await t.run_query(notes) == expected
                await t.run_mutation(note, "a")

    async def test_time_begins_in_2026_unless_told_otherwise(self) -> None:
        later = datetime(2030, 5, 1, tzinfo=UTC)

        async with TestApp(bare) as t, TestApp(bare, start=later) as other:
            assert (t.now(), other.now()) == (START, later)

    async def test_a_naive_start_is_refused(self) -> None:
        with pytest.raises(InstantError):
            TestApp(bare, start=datetime(2026, 1, 1))  # noqa: DTZ001  # what is refused


class TestRestart:
    """8.3"""

    @pytest.mark.parametrize("kind", ["memory", "file"])
    async def test_what_was_committed_is_there_afterwards(self, tmp_path: Path, kind: str) -> None:
        database = tmp_path / "app.duckdb" if kind == "file" else None
        async with TestApp(bare, database=database) as t:
            await t.run_mutation(note, "a")
            job = await t.scheduler.run_after(HOUR, note, "b")

            await t.restart(down_for=2 * HOUR)

            assert t.now() == START + 2 * HOUR
            assert await t.run_query(notes) == ["a"]
            assert await t.run_due_jobs() == [job]

    async def test_what_ran_is_interrupted_and_says_nothing_more(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, nap, "a", 60)
        await t.run_due_jobs()

        await t.restart(down_for=HOUR)
        await t.advance_time(HOUR)

        assert t.job(job).state == "failed"
        assert t.job(job).finished_at == START + HOUR
        assert await t.run_query(notes) == ["a sleeps"]

    async def test_missed_runs_are_caught_up_once(self) -> None:
        async with TestApp(app) as t:
            await t.run_due_jobs()
            await t.restart(down_for=10 * HOUR + MINUTE)
            await t.run_due_jobs()

            caught = t.jobs(cron="hourly").iloc[0]
            assert (caught["trigger"], caught["missed"]) == ("catch_up", 10)


# --- waiting on the clock, and on something real ------------------------------------------------
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


class TestErrors:
    """8.4"""

    async def test_real_waiting_past_the_limit_names_the_job(self) -> None:
        gate = threading.Event()
        made = RxFerrix()

        @made.action
        def stuck(ctx: SyncActionCtx) -> None:
            gate.wait()

        async with TestApp(made, real_timeout=timedelta(milliseconds=50)) as t:
            job = await t.scheduler.run_after(NOW, stuck)

            with pytest.raises(VirtualTimeError, match=rf"stuck \(job {job}\)"):
                await t.run_due_jobs()
            gate.set()

    async def test_it_names_an_async_action_too(self) -> None:
        made = RxFerrix()

        @made.action
        async def stuck(ctx: ActionCtx) -> None:
            await anyio.sleep_forever()

        async with TestApp(made, real_timeout=timedelta(milliseconds=50)) as t:
            job = await t.scheduler.run_after(NOW, stuck)

            with pytest.raises(VirtualTimeError, match=rf"stuck \(job {job}\)"):
                await t.advance_time(HOUR)

    async def test_steps_without_an_end_name_the_busiest_functions(self) -> None:
        async with TestApp(bare, max_steps=50) as t:
            await t.scheduler.run_after(NOW, note, "a")
            await t.scheduler.run_after(NOW, forever)

            with pytest.raises(VirtualTimeError, match=r"more than 50 steps .* forever \(\d+ of"):
                await t.run_due_jobs()

    async def test_each_call_counts_its_own_steps(self) -> None:
        async with TestApp(bare, max_steps=20) as t:
            for _ in range(5):
                await t.scheduler.run_after(NOW, chain, 10)
                await t.run_due_jobs()

            found = await t.run_query(notes)
            assert len(found) == 55
