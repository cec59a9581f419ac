"""Contract 5.4 to 5.6: occurrences become jobs once each, whatever the clock and the app do."""

from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx
from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.testing import TestApp

START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
YEAR = timedelta(days=365)


def app_with(expr: str, zone: str = "UTC", keep: timedelta = 7 * DAY) -> RxFerrix:
    """An app with the cron "bell", which keeps its occurrences for longer than its jobs."""
    app = RxFerrix(interactive=False, keep=keep)
    app.table("rings", "occurrence TIMESTAMPTZ")

    @app.mutation
    def ring(ctx: MutationCtx) -> None:
        ctx.db.sql("INSERT INTO rings SELECT last_job, seen_until FROM _crons")

    return app.cron_tz("bell", expr, zone, ring)


def occurrences(t: TestApp) -> list[str]:
    rows = t.sql("SELECT scheduled_for FROM _scheduled_jobs WHERE cron = 'bell' ORDER BY id")
    return [instant.strftime("%m-%dT%H:%M:%S") for instant in rows["scheduled_for"]]


def triggers(t: TestApp) -> list[tuple[str, int]]:
    rows = t.sql("SELECT trigger, missed FROM _scheduled_jobs WHERE cron = 'bell' ORDER BY id")
    return list(zip(rows["trigger"], rows["missed"], strict=True))


def rings(t: TestApp) -> list[str]:
    rows = t.sql("SELECT occurrence FROM rings ORDER BY id")["occurrence"]
    return [instant.isoformat() for instant in rows]


def details(t: TestApp) -> list[str]:
    rows = t.sql("SELECT detail FROM _execution_log WHERE outcome = 'skipped' ORDER BY id")
    return list(rows["detail"])


class TestShadowOfAGap:
    """Berlin, 2026: 29 March 01:00Z, 02:00 -> 03:00. 02:30 runs at 03:30 CEST, 01:30Z."""

    START = datetime(2026, 3, 28, 12, tzinfo=UTC)

    async def test_wall_time_in_the_gap_runs_later_by_the_gap(self) -> None:
        async with TestApp(app_with("0 30 2 * * *", "Europe/Berlin"), start=self.START) as t:
            await t.advance_time(2 * DAY)

            assert occurrences(t) == ["03-29T01:30:00", "03-30T00:30:00"]

    async def test_restart_between_the_gap_and_the_moved_run_runs_it_once(self) -> None:
        async with TestApp(app_with("0 30 2 * * *", "Europe/Berlin"), start=self.START) as t:
            await t.advance_time(13 * HOUR + 10 * MINUTE)  # 01:10Z, 03:10 on the wall
            await t.restart()
            assert await t.run_due_jobs() == []

            await t.advance_time(HOUR)

            assert occurrences(t) == ["03-29T01:30:00"]
            assert triggers(t) == [("cron", 0)]

    async def test_restart_after_the_moved_run_does_not_repeat_it(self) -> None:
        async with TestApp(app_with("0 30 2 * * *", "Europe/Berlin"), start=self.START) as t:
            await t.advance_time(13 * HOUR + 40 * MINUTE)
            await t.restart(down_for=MINUTE)

            assert await t.run_due_jobs() == []

    async def test_app_that_was_down_over_the_gap_catches_up_once(self) -> None:
        async with TestApp(app_with("0 */15 * * * *", "Europe/Berlin"), start=self.START) as t:
            await t.advance_time(12 * HOUR + 50 * MINUTE)  # 00:50Z; next is 01:00Z, 03:00 CEST
            await t.restart(down_for=25 * MINUTE)

            await t.run_due_jobs()

            assert occurrences(t)[-1] == "03-29T01:15:00"
            assert triggers(t)[-1] == ("catch_up", 2)


class TestRepeatedHour:
    """Berlin, 2026: 25 October 01:00Z, 03:00 -> 02:00. 02:30 is 00:30Z and 01:30Z."""

    START = datetime(2026, 10, 25, 0, 0, tzinfo=UTC)

    async def test_restart_between_the_two_passings_does_not_repeat_the_run(self) -> None:
        async with TestApp(app_with("0 30 2 * * *", "Europe/Berlin"), start=self.START) as t:
            await t.advance_time(50 * MINUTE)
            await t.restart(down_for=20 * MINUTE)  # 01:10Z, 02:10 for the second time

            await t.advance_time(2 * HOUR)

            assert occurrences(t) == ["10-25T00:30:00"]

    async def test_app_that_was_down_in_the_first_passing_catches_up_once(self) -> None:
        async with TestApp(app_with("0 30 2 * * *", "Europe/Berlin"), start=self.START) as t:
            await t.restart(down_for=70 * MINUTE)

            await t.advance_time(2 * HOUR)

            assert occurrences(t) == ["10-25T00:30:00"]
            assert triggers(t) == [("catch_up", 1)]

    async def test_cron_declared_between_the_passings_waits_for_the_next_day(self) -> None:
        start = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)
        async with TestApp(app_with("0 30 2 * * *", "Europe/Berlin"), start=start) as t:
            await t.advance_time(DAY + HOUR)

            assert occurrences(t) == ["10-26T01:30:00"]


@pytest.mark.parametrize("change", ["2026-03-29T00:00Z", "2026-10-25T00:00Z"])
async def test_any_restarts_around_a_change_account_for_each_occurrence_once(change: str) -> None:
    start, rng = datetime.fromisoformat(change), Random(7)
    schedule = CronSchedule("0 */10 * * * *", "Europe/Berlin")
    async with TestApp(app_with(schedule.expr, schedule.zone), start=start) as t:
        for _ in range(15):
            await t.advance_time(rng.randint(1, 20) * MINUTE)
            await t.restart(down_for=rng.choice((0, 1, 35)) * MINUTE)
        await t.run_due_jobs()

        assert len(set(rings(t))) == len(rings(t))
        accounted = sum(max(missed, 1) for _, missed in triggers(t))
        assert accounted == schedule.count(start, t.now())


async def test_occurrence_whose_job_was_made_before_a_crash_runs_once() -> None:
    async with TestApp(app_with("0 0 9 * * *")) as t:
        await t.advance_time(8 * HOUR)
        t.set_clock(START + 9 * HOUR - SECOND)
        await t.run_due_jobs()
        t.set_clock(START + 9 * HOUR)
        t.runtime.engine.ticker.tick(t.now())
        await t.restart(down_for=HOUR)

        await t.run_due_jobs()

        assert (len(rings(t)), triggers(t)) == (1, [("cron", 0)])


async def test_occurrence_at_the_very_end_of_the_time_runs() -> None:
    async with TestApp(app_with("0 0 9 * * *")) as t:
        await t.advance_time(9 * HOUR)

        assert occurrences(t) == ["01-01T09:00:00"]


# --- missed ---------------------------------------------------------------------------------------
async def test_missed_occurrences_run_once_at_startup_with_their_number() -> None:
    async with TestApp(app_with("0 0 9 * * *")) as t:
        await t.restart(down_for=3 * DAY)

        await t.run_due_jobs()

        assert occurrences(t) == ["01-03T09:00:00"]
        assert triggers(t) == [("catch_up", 3)]
        assert t.sql("SELECT missed, runs FROM _crons").values.tolist() == [[3, 1]]


async def test_after_100_missed_occurrences_one_runs_and_the_schedule_goes_on() -> None:
    async with TestApp(app_with("0 0 * * * *")) as t:
        await t.restart(down_for=100 * HOUR + MINUTE)

        await t.run_due_jobs()
        await t.advance_time(2 * HOUR)

        assert triggers(t) == [("catch_up", 100), ("cron", 0), ("cron", 0)]


async def test_week_of_missed_seconds_is_counted_and_not_walked() -> None:
    async with TestApp(app_with("* * * * * *")) as t:
        await t.restart(down_for=7 * DAY)

        await t.run_due_jobs()

        assert triggers(t) == [("catch_up", 604_800)]


async def test_short_restart_between_occurrences_misses_nothing() -> None:
    async with TestApp(app_with("0 0 * * * *")) as t:
        await t.restart(down_for=59 * MINUTE)

        await t.advance_time(MINUTE)

        assert triggers(t) == [("cron", 0)]


async def test_paused_cron_misses_nothing() -> None:
    async with TestApp(app_with("0 0 * * * *")) as t:
        t.pause_cron("bell")
        await t.advance_time(3 * HOUR)
        await t.restart(down_for=3 * HOUR)
        t.set_clock(t.now() + 3 * HOUR)
        t.resume_cron("bell")

        await t.advance_time(HOUR)

        assert triggers(t) == [("cron", 0)]


# --- clocks that leap ahead -----------------------------------------------------------------------
async def test_leap_of_more_than_a_minute_runs_one_job_for_what_passed() -> None:
    async with TestApp(app_with("0 * * * * *")) as t:
        await t.advance_time(MINUTE + 30 * SECOND)
        t.set_clock(t.now() + 10 * MINUTE)

        await t.run_due_jobs()
        await t.advance_time(MINUTE)

        assert triggers(t) == [("cron", 0), ("catch_up", 10), ("cron", 0)]


async def test_leap_just_over_a_minute_counts_what_passed_late_in_it_too() -> None:
    async with TestApp(app_with("0 * * * * *")) as t:
        await t.advance_time(59 * SECOND)
        t.set_clock(t.now() + 61 * SECOND)  # the first occurrence is 60 s late, the second is due

        await t.run_due_jobs()

        assert occurrences(t) == ["01-01T00:02:00"]
        assert triggers(t) == [("catch_up", 2)]


async def test_smaller_leap_runs_every_occurrence_that_passed() -> None:
    async with TestApp(app_with("*/10 * * * * *")) as t:
        await t.advance_time(5 * SECOND)
        t.set_clock(t.now() + 50 * SECOND)

        await t.run_due_jobs()

        assert triggers(t) == [("cron", 0)] * 5


async def test_leap_over_no_occurrence_changes_nothing() -> None:
    async with TestApp(app_with("0 0 9 * * *")) as t:
        t.set_clock(START + 8 * HOUR)

        await t.advance_time(HOUR)

        assert triggers(t) == [("cron", 0)]


# --- clocks that are set back ---------------------------------------------------------------------
@pytest.mark.parametrize("back", [SECOND, MINUTE, HOUR, 23 * HOUR])
async def test_after_a_step_back_nothing_runs_again_and_the_schedule_goes_on(
    back: timedelta,
) -> None:
    async with TestApp(app_with("*/20 * * * * *", keep=YEAR)) as t:
        await t.advance_time(2 * MINUTE)
        t.set_clock(t.now() - back)

        await t.advance_time(back)
        assert len(rings(t)) == 6

        await t.advance_time(MINUTE)
        assert len(set(rings(t))) == len(rings(t)) == 9


async def test_after_a_step_back_of_a_year_the_next_run_is_computed_from_now() -> None:
    async with TestApp(app_with("0 0 * * * *")) as t:
        await t.advance_time(3 * HOUR)
        t.set_clock(START - YEAR)

        await t.advance_time(3 * HOUR)

        assert occurrences(t)[3:] == ["01-01T01:00:00", "01-01T02:00:00", "01-01T03:00:00"]
        (said,) = details(t)
        assert (
            "bell: its last occurrence 2026-01-01T03:00:00+00:00 lies more than a day ahead" in said
        )
        assert "the clock had been wrong; the next run is computed from now" in said


async def test_what_ran_before_a_step_back_of_days_does_not_run_again() -> None:
    async with TestApp(app_with("0 0 * * * *", keep=YEAR)) as t:
        await t.advance_time(3 * DAY)
        t.set_clock(START)

        await t.advance_time(4 * DAY)

        assert len(set(rings(t))) == len(rings(t)) == 4 * 24


async def test_what_ran_does_not_run_again_even_when_its_job_is_gone() -> None:
    async with TestApp(app_with("0 0 0 * * *", keep=DAY)) as t:
        await t.advance_time(20 * DAY)
        assert len(occurrences(t)) < 5
        t.set_clock(START)

        await t.advance_time(25 * DAY)

        assert len(set(rings(t))) == len(rings(t)) == 25


async def test_clock_that_was_ahead_by_mistake_stops_no_cron() -> None:
    async with TestApp(app_with("0 0 * * * *", keep=2 * YEAR)) as t:
        await t.advance_time(2 * HOUR)
        t.set_clock(START + YEAR)
        await t.advance_time(2 * HOUR)
        t.set_clock(START + 2 * HOUR + 10 * MINUTE)

        await t.advance_time(2 * HOUR)

        assert occurrences(t)[-2:] == ["01-01T03:00:00", "01-01T04:00:00"]
        assert triggers(t)[-2:] == [("cron", 0), ("cron", 0)]


async def test_cron_declared_under_a_clock_that_was_ahead_does_not_wait_for_it() -> None:
    async with TestApp(app_with("0 0 9 * * *"), start=START + 10 * YEAR) as t:
        t.set_clock(START)

        await t.advance_time(DAY)

        assert occurrences(t) == ["01-01T09:00:00"]


async def test_clock_set_back_while_the_app_was_down_stops_no_cron() -> None:
    async with TestApp(app_with("0 0 9 * * *"), start=START + YEAR) as t:
        await t.advance_time(DAY)
        t.set_clock(START)
        await t.restart()

        await t.advance_time(2 * DAY)

        assert len(rings(t)) == 3


async def test_job_that_waits_behind_a_wrong_clock_does_not_hold_its_cron_up() -> None:
    app = RxFerrix(interactive=False, parallelism=1)

    @app.action
    async def short(ctx: ActionCtx) -> None:
        await ctx.sleep(MINUTE)

    @app.action
    async def blocker(ctx: ActionCtx) -> None:
        await ctx.canceled()

    app.cron("bell", "0 0 * * * *", short)
    async with TestApp(app, start=START + YEAR) as t:
        block = await t.scheduler.run_after(timedelta(0), blocker)
        await t.advance_time(HOUR)
        t.set_clock(START)
        await t.run_due_jobs()
        t.cancel(block)

        await t.advance_time(2 * HOUR)

        assert "01-01T02:00:00" in occurrences(t)


async def test_no_occurrence_becomes_two_jobs_on_any_walk_of_the_clock() -> None:
    rng = Random(5)
    steps = [SECOND, 50 * SECOND, HOUR, 5 * HOUR, 3 * DAY, 40 * DAY]
    for _ in range(4):
        async with TestApp(app_with("0 0 */6 * * *", keep=DAY)) as t:
            for _ in range(12):
                t.set_clock(t.now() + rng.choice((-1, 1)) * rng.choice(steps))
                await t.advance_time(rng.choice(steps[:5]))
            assert len(set(rings(t))) == len(rings(t)) > 5

            t.set_clock(t.now() + 500 * DAY)
            assert len(await t.advance_time(DAY)) >= 4


# --- retention ------------------------------------------------------------------------------------
async def test_retention_waits_an_hour_after_a_leap() -> None:
    async with TestApp(app_with("0 0 9 1 1 *")) as t:
        await t.advance_time(10 * HOUR)
        t.set_clock(START + 30 * DAY)

        await t.advance_time(59 * MINUTE)
        assert len(occurrences(t)) == 1

        await t.advance_time(MINUTE)
        assert occurrences(t) == []


async def test_retention_goes_on_after_the_clock_was_ahead_for_a_year() -> None:
    async with TestApp(app_with("0 0 9 * * *")) as t:
        t.set_clock(START + YEAR)
        await t.run_due_jobs()
        t.set_clock(START)

        await t.advance_time(30 * DAY)

        assert len(occurrences(t)) <= 9  # one of the year ahead, and a week of January
