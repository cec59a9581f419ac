"""Contract 8, sentence by sentence, on asyncio and on trio."""

import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from rxferrix_lab import (
    ActionCtx,
    InstantError,
    RxFerrix,
    SyncActionCtx,
    TestApp,
    VirtualTimeError,
)
from tests.contract.timed_program import (
    DAY,
    HOUR,
    MINUTE,
    NOW,
    SECOND,
    START,
    app,
    at,
    bare,
    cancel_all,
    chain,
    forever,
    nap,
    nap_in_a_thread,
    note,
    notes,
    stubborn,
    tables,
    until_canceled,
    without_revision,
)


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(bare) as entered:
        yield entered


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
