"""Contract 5.8 and 5.9: intervals, and what an edit of the program does to a stored cron."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.errors import InstantError, UnknownCronError
from rxferrix_lab.testing import TestApp
from tests.contract.cron_program import Program, row, runs, spoil, texts, triggers

START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "app.duckdb"


# --- intervals (5.8) ------------------------------------------------------------------------------
async def test_interval_runs_when_it_is_declared_and_then_without_drift() -> None:
    async with TestApp(Program().interval(7 * MINUTE)) as t:
        await t.advance_time(3 * MINUTE)
        await t.advance_time(18 * MINUTE + 30 * SECOND)

        assert runs(t) == ["01T00:00:00", "01T00:07:00", "01T00:14:00", "01T00:21:00"]
        assert triggers(t) == [("cron", 0)] * 4


async def test_restart_neither_shifts_nor_repeats_an_interval() -> None:
    async with TestApp(Program().interval(10 * MINUTE)) as t:
        await t.advance_time(13 * MINUTE)
        await t.restart()
        await t.run_due_jobs()
        await t.restart(down_for=2 * MINUTE)

        await t.advance_time(10 * MINUTE)

        assert runs(t) == ["01T00:00:00", "01T00:10:00", "01T00:20:00"]


async def test_interval_that_was_down_catches_up_once_and_keeps_its_anchor() -> None:
    async with TestApp(Program().interval(10 * MINUTE)) as t:
        await t.advance_time(MINUTE)
        await t.restart(down_for=34 * MINUTE)

        await t.advance_time(10 * MINUTE)

        assert runs(t) == ["01T00:00:00", "01T00:30:00", "01T00:40:00"]
        assert triggers(t)[1:] == [("catch_up", 3), ("cron", 0)]


async def test_interval_declared_by_the_same_cell_again_keeps_its_anchor() -> None:
    program = Program(interactive=True)
    async with TestApp(program.interval(10 * MINUTE)) as t:
        await t.advance_time(13 * MINUTE)
        program.interval(10 * MINUTE)
        await t.reconcile()

        await t.advance_time(10 * MINUTE)

        assert runs(t) == ["01T00:00:00", "01T00:10:00", "01T00:20:00"]


async def test_interval_with_another_period_is_anchored_at_now_and_runs_one_period_later() -> None:
    program = Program(interactive=True)
    async with TestApp(program.interval(10 * MINUTE)) as t:
        await t.advance_time(13 * MINUTE)
        program.interval(4 * MINUTE)
        await t.reconcile()

        assert row(t)["anchor"] == START + 13 * MINUTE
        await t.advance_time(8 * MINUTE)

        assert runs(t)[2:] == ["01T00:17:00", "01T00:21:00"]


async def test_interval_goes_on_in_step_with_its_anchor_after_a_clock_set_back_by_a_year() -> None:
    async with TestApp(Program().interval(10 * MINUTE), start=START + 3 * MINUTE) as t:
        await t.advance_time(11 * MINUTE)
        t.set_clock(START - 365 * DAY)

        await t.advance_time(20 * MINUTE)

        assert runs(t)[2:] == ["01T00:03:00", "01T00:13:00"]
        assert triggers(t)[2:] == [("cron", 0)] * 2


async def test_period_with_microseconds_does_not_drift() -> None:
    every = timedelta(seconds=1, microseconds=1)
    async with TestApp(Program().interval(every)) as t:
        await t.advance_time(100 * every)

        last = t.sql("SELECT max(scheduled_for) AS at FROM _scheduled_jobs")["at"][0]
        assert last == START + 100 * every


async def test_period_below_a_second_is_refused() -> None:
    with pytest.raises(InstantError, match="one second or more"):
        Program().interval(SECOND - timedelta(microseconds=1))


# --- edits between two starts (5.9) ---------------------------------------------------------------
async def edited(database: Path, before: RxFerrix, after: RxFerrix) -> list[str]:
    """Live through 30 hours of one program, then two days of another; what ran in those."""
    async with TestApp(before, database=database) as t:
        await t.advance_time(30 * HOUR)
    async with TestApp(after, database=database, start=START + 30 * HOUR) as t:
        await t.advance_time(2 * DAY)
        return runs(t)[1:]


async def test_edited_expression_runs_next_from_now_and_catches_nothing_up(database: Path) -> None:
    before, after = Program().cron("0 0 9 * * *"), Program().cron("0 0 5 * * *")

    assert await edited(database, before, after) == ["03T05:00:00", "04T05:00:00"]


async def test_edited_zone_runs_next_from_now(database: Path) -> None:
    before = Program().cron("0 0 9 * * *")
    after = Program().cron("0 0 9 * * *", zone="Asia/Tokyo")

    assert await edited(database, before, after) == ["03T00:00:00", "04T00:00:00"]


async def test_cron_that_became_an_interval_first_runs_one_period_later(database: Path) -> None:
    before, after = Program().cron("0 0 9 * * *"), Program().interval(DAY)

    assert await edited(database, before, after) == ["03T06:00:00", "04T06:00:00"]


async def test_spaces_in_an_expression_are_no_edit(database: Path) -> None:
    before, after = Program().cron("0 0 9 * * *"), Program().cron(" 0  0 9 * * * ")
    async with TestApp(before, database=database) as t:
        declared_at = row(t)["declared_at"]
    async with TestApp(after, database=database, start=START + HOUR) as t:
        assert row(t)["declared_at"] == declared_at


async def test_edited_expression_catches_nothing_up_after_three_days(database: Path) -> None:
    async with TestApp(Program().cron("0 0 9 * * *"), database=database):
        pass
    async with TestApp(
        Program().cron("0 0 10 * * *"), database=database, start=START + 3 * DAY
    ) as t:
        assert await t.run_due_jobs() == []


async def test_edited_arguments_leave_the_next_run_and_catch_up_with_the_new_ones(
    database: Path,
) -> None:
    async with TestApp(Program().cron("0 0 9 * * *", "old"), database=database):
        pass
    async with TestApp(
        Program().cron("0 0 9 * * *", "new"), database=database, start=START + 10 * HOUR
    ) as t:
        await t.run_due_jobs()

        assert (texts(t), triggers(t)) == (["new"], [("catch_up", 1)])


async def test_edited_function_leaves_the_next_run(database: Path) -> None:
    async with TestApp(Program().cron("0 0 9 * * *"), database=database) as t:
        before = row(t)
    program = Program()
    program.app.cron("c", "0 0 9 * * *", program.rest)
    async with TestApp(program.app, database=database, start=START + HOUR) as t:
        after = row(t)

        assert after["function"] == "rest"
        assert after["next_run_at"] == before["next_run_at"]


async def test_edit_keeps_the_counts_and_the_pause(database: Path) -> None:
    async with TestApp(Program().cron("0 0 9 * * *"), database=database) as t:
        await t.advance_time(DAY)
        t.pause_cron("c")
    async with TestApp(Program().cron("0 0 8 * * *"), database=database, start=START + DAY) as t:
        assert (row(t)["runs"], row(t)["paused"]) == (1, True)
        assert await t.advance_time(2 * DAY) == []


async def test_occurrence_that_ran_does_not_run_again_for_an_edit_under_a_clock_set_back(
    database: Path,
) -> None:
    async with TestApp(Program().cron("0 0 * * * *"), database=database) as t:
        await t.advance_time(3 * HOUR)
    async with TestApp(
        Program().cron("0 */30 * * * *"), database=database, start=START + 100 * MINUTE
    ) as t:
        await t.advance_time(2 * HOUR)

        assert runs(t)[3:] == ["01T02:30:00", "01T03:30:00"]


async def test_renamed_cron_begins_anew_and_the_old_one_is_gone(database: Path) -> None:
    async with TestApp(Program().cron("0 0 9 * * *", name="old"), database=database) as t:
        await t.advance_time(10 * HOUR)
    async with TestApp(
        Program().cron("0 0 9 * * *", name="new"), database=database, start=START + 3 * DAY
    ) as t:
        await t.advance_time(10 * HOUR)

        assert list(t.sql("SELECT name FROM _crons")["name"]) == ["new"]
        assert (runs(t, "old"), runs(t, "new")) == (["01T09:00:00"], ["04T09:00:00"])
        assert [trigger for trigger, _ in triggers(t)] == ["cron", "cron"]


async def test_removed_cron_takes_its_pending_job_with_it_and_its_history_stays(
    database: Path,
) -> None:
    before = Program()
    before.app.cron("c", "0 0 * * * *", before.rest)
    async with TestApp(before.app, database=database) as t:
        await t.advance_time(HOUR)
        await t.restart()  # the run of 01:00 was interrupted
        pending = t.run_cron_now("c")
    async with TestApp(Program().app, database=database, start=START + 2 * HOUR) as t:
        await t.advance_time(5 * HOUR)

        assert t.job(pending).state == "canceled"
        assert t.sql("SELECT name FROM _crons").empty
        assert t.jobs(cron="c")["state"].tolist() == ["canceled", "failed"]


async def test_cron_declared_anew_does_not_overlap_the_run_of_its_removed_self() -> None:
    program = Program(interactive=True)
    program.app.cron("c", "0 0 * * * *", program.rest)
    async with TestApp(program.app) as t:
        await t.advance_time(HOUR)
        t.remove_cron("c")
        program.app.cron("c", "0 0 * * * *", program.rest)
        await t.reconcile()

        await t.advance_time(2 * HOUR)

        assert runs(t) == ["01T01:00:00"]
        assert row(t)["skipped"] == 2


async def test_cron_removed_in_a_test_stays_declared_in_the_app() -> None:
    program = Program()
    program.app.cron("c", "0 0 * * * *", program.rest)
    async with TestApp(program.app) as t:
        t.remove_cron("c")
        assert await t.advance_time(HOUR) == []

    async with TestApp(program.app) as again:
        assert len(await again.advance_time(HOUR)) == 1


async def test_next_run_that_new_rules_of_the_zone_moved_is_computed_again(database: Path) -> None:
    app = Program().cron("0 0 9 * * *", zone="America/Vancouver")
    async with TestApp(app, database=database) as t:
        await t.advance_time(DAY)
        right = row(t)["next_run_at"]
    spoil(database, f"UPDATE _crons SET next_run_at = '{right + HOUR}'")

    async with TestApp(app, database=database, start=START + DAY) as t:
        assert row(t)["next_run_at"] == right


# --- an interactive app (5.9) ---------------------------------------------------------------------
async def test_stored_cron_that_no_cell_declared_yet_waits(database: Path) -> None:
    async with TestApp(Program().interval(HOUR), database=database) as t:
        await t.advance_time(HOUR)
        before = row(t)
    async with TestApp(
        Program(interactive=True).app, database=database, start=START + 90 * MINUTE
    ) as t:
        await t.advance_time(5 * HOUR)

        assert row(t) == before
        assert len(runs(t)) == 2


async def test_cron_that_a_cell_declares_again_catches_up_once(database: Path) -> None:
    async with TestApp(Program().interval(HOUR), database=database) as t:
        await t.advance_time(HOUR)
    program = Program(interactive=True)
    async with TestApp(program.app, database=database, start=START + 90 * MINUTE) as t:
        await t.advance_time(4 * HOUR)
        program.interval(HOUR)
        await t.reconcile()

        await t.advance_time(HOUR)

        assert triggers(t)[2:] == [("catch_up", 4), ("cron", 0)]
        assert runs(t)[2:] == ["01T05:00:00", "01T06:00:00"]


async def test_admin_removes_a_cron_that_no_cell_declares(database: Path) -> None:
    async with TestApp(Program().interval(HOUR), database=database):
        pass
    async with TestApp(Program(interactive=True).app, database=database) as t:
        t.remove_cron("c")

        assert t.sql("SELECT name FROM _crons").empty
        with pytest.raises(UnknownCronError):
            t.remove_cron("c")
