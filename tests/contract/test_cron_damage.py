"""Contract 5: a stored row that somebody damaged, or that no longer fits, stops no other cron."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import MutationCtx
from rxferrix_lab.testing import TestApp
from tests.contract.cron_program import Program, runs, skips, spoil

START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "app.duckdb"


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE _crons SET expr = '0 0 25 * * *' WHERE name = 'c'",
        "UPDATE _crons SET zone = 'Mars/Olympus' WHERE name = 'c'",
        "UPDATE _crons SET zone = NULL WHERE name = 'c'",
        "UPDATE _crons SET next_run_at = NULL WHERE name = 'c'",
        "UPDATE _crons SET settled = 'nonsense' WHERE name = 'c'",
        "UPDATE _crons SET every_us = 5 WHERE name = 'beat'",
        "UPDATE _crons SET anchor = NULL WHERE name = 'beat'",
    ],
)
async def test_damaged_row_stops_no_cron(database: Path, damage: str) -> None:
    program = Program()
    program.cron("0 0 9 * * *")
    program.cron("0 0 9 * * *", name="other")
    program.interval(DAY, name="beat")
    async with TestApp(program.app, database=database) as t:
        await t.advance_time(10 * HOUR)
    spoil(database, damage)

    async with TestApp(program.app, database=database, start=START + 10 * HOUR) as t:
        await t.advance_time(DAY)

        assert runs(t, "c") == runs(t, "other") == ["01T09:00:00", "02T09:00:00"]
        assert len(runs(t, "beat")) == 2


async def test_row_that_cannot_be_read_is_said_in_the_log(database: Path) -> None:
    app = Program().cron("0 0 9 * * *")
    async with TestApp(app, database=database):
        pass
    spoil(database, "UPDATE _crons SET expr = '0 0 25 * * *'")

    async with TestApp(app, database=database) as t:
        (said,) = skips(t)

    assert "c: its stored schedule cannot be read (hour 25 is outside 0-23" in said
    assert "it goes on as it is declared" in said


async def test_row_damaged_while_the_app_runs_is_repaired_at_its_next_run() -> None:
    program = Program()
    program.cron("0 0 * * * *")
    program.cron("0 0 * * * *", name="other")
    async with TestApp(program.app) as t:
        await t.advance_time(10 * MINUTE)
        t.runtime.engine.on_writer(
            lambda store: store.transaction().connection.execute(
                "UPDATE _crons SET expr = '0 0 25 * * *' WHERE name = 'c'; COMMIT"
            )
        ).result()

        await t.advance_time(2 * HOUR)

        assert (runs(t), len(runs(t, "other"))) == (["01T02:00:00"], 2)
        assert "cannot be read" in skips(t)[0]


async def test_arguments_that_no_longer_decode_fail_the_job_and_stop_no_cron(
    database: Path,
) -> None:
    async with TestApp(Program().cron("0 0 9 * * *"), database=database) as t:
        await t.restart(down_for=10 * HOUR)
        t.runtime.engine.ticker.tick(t.now())  # the job is made, and the program is changed
    changed = RxFerrix(interactive=False)

    @changed.mutation
    def note(ctx: MutationCtx, number: int) -> None: ...

    changed.cron("c", "0 0 9 * * *", note, 1)
    changed.cron("other", "0 0 9 * * *", note, 2)
    async with TestApp(changed, database=database, start=START + 10 * HOUR) as t:
        await t.run_due_jobs()
        (failed,) = t.jobs(cron="c")["id"].tolist()
        assert (t.job(failed).state, t.job(failed).error is not None) == ("failed", True)

        await t.advance_time(DAY)

        assert t.jobs(cron="c")["state"].tolist() == ["succeeded", "failed"]
        assert t.jobs(cron="other")["state"].tolist() == ["succeeded"]
