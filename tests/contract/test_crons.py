"""Contract 5, sentence by sentence: declaring, overlap, running at once, pausing, and what breaks.

Clocks that lie and restarts are in test_cron_clocks.py, edits in test_cron_edits.py.
"""

from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx, QueryCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.engine.program import Identity
from rxferrix_lab.errors import (
    ArgumentsError,
    CronBusyError,
    CronSyntaxError,
    DuplicateNameError,
    InstantError,
    NotSchedulableError,
    PermissionDeniedError,
    UnknownCronError,
    UnknownZoneError,
)
from rxferrix_lab.testing import TestApp

START = datetime(2026, 1, 1, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
RUN_NOW = "_system/scheduler:run_cron_now"
ADMIN = Identity("root", admin=True)
VIEWER = Identity("ann")

app = RxFerrix(interactive=False)
app.table("notes", "text VARCHAR")


@app.query
def texts(ctx: QueryCtx) -> list[str]:
    return [text for (text,) in ctx.db.sql("SELECT text FROM notes ORDER BY id").fetchall()]


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text})


@app.action
async def pause(ctx: ActionCtx, minutes: int) -> None:
    await ctx.sleep(minutes * MINUTE)


@app.mutation
def refuse(ctx: MutationCtx) -> None:
    raise LookupError("nothing there")


app.cron("hourly", "0 0 * * * *", note, "hour")
app.cron_tz("digest", "0 0 9 * * *", "Europe/Bucharest", note, text="digest")
app.cron("long", "0 0 * * * *", pause, 90)
app.cron("broken", "0 0 * * * *", refuse)


def declaring() -> RxFerrix:
    return RxFerrix(interactive=False)


def jobs_of(t: TestApp, cron: str) -> list[JobId]:
    return [JobId(job) for job in reversed(t.jobs(cron=cron)["id"].tolist())]


def triggers(t: TestApp, cron: str) -> list[str]:
    return [t.job(job).trigger for job in jobs_of(t, cron)]


def row(t: TestApp, cron: str) -> dict[str, object]:
    found = t.sql("SELECT * FROM _crons WHERE name = $cron", cron=cron)
    return {str(name): value for name, value in found.iloc[0].items()}


def skips(t: TestApp) -> list[str]:
    return list(t.sql("SELECT detail FROM _execution_log WHERE outcome = 'skipped'")["detail"])


# --- declaring (5.1 to 5.3) -----------------------------------------------------------------------
async def test_cron_is_in_utc_and_cron_tz_in_its_zone() -> None:
    async with TestApp(app) as t:
        await t.advance_time(DAY)

        (digest,) = jobs_of(t, "digest")
        assert t.job(digest).scheduled_for == START + 7 * HOUR
        assert len(jobs_of(t, "hourly")) == 24


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        ("0 9 * * *", r"six fields are needed .* put a 0 in front: \"0 0 9 \* \* \*\""),
        ("0 0 25 * * *", r"hour 25 is outside 0-23 \(field 3 of"),
        ("0 0 0 31 4 *", "it never matches"),
        ("0 " * 1_000_000, "characters are too many"),
    ],
)
def test_expression_that_cannot_be_meant_is_refused_when_declared(expr: str, message: str) -> None:
    with pytest.raises(CronSyntaxError, match=message):
        declaring().cron("c", expr, note, "x")


def test_unknown_zone_is_refused_when_declared() -> None:
    with pytest.raises(UnknownZoneError, match="Europe/Bucuresti"):
        declaring().cron_tz("c", "0 0 9 * * *", "Europe/Bucuresti", note, "x")


@pytest.mark.parametrize("every", [timedelta(0), timedelta(milliseconds=999), -HOUR, 4000 * DAY])
def test_period_below_a_second_or_above_ten_years_is_refused(every: timedelta) -> None:
    with pytest.raises(InstantError, match="one second or more"):
        declaring().interval("i", every, note, "x")


def test_query_is_no_target() -> None:
    with pytest.raises(NotSchedulableError, match="texts is a query"):
        app.cron("c", "0 0 9 * * *", texts)  # type: ignore[arg-type]  # what is refused


@pytest.mark.parametrize("args", [(), ("a", "b"), (1,)])
def test_arguments_are_checked_when_declared(args: tuple[object, ...]) -> None:
    with pytest.raises(ArgumentsError, match="note"):
        app.cron("c", "0 0 9 * * *", note, *args)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(ArgumentsError, match="note"):
        app.interval("i", HOUR, note, *args)  # type: ignore[arg-type]  # what is refused

    assert "c" not in app.registry.crons


def test_name_is_taken_once() -> None:
    with pytest.raises(DuplicateNameError, match="hourly"):
        app.interval("hourly", HOUR, note, "x")


@pytest.mark.parametrize("name", ["", "  ", "x" * 201])
def test_cron_needs_a_name_of_a_readable_length(name: str) -> None:
    with pytest.raises(ValueError, match="1 to 200 characters"):
        app.cron(name, "0 0 9 * * *", note, "x")


# --- overlap (5.7) --------------------------------------------------------------------------------
async def test_occurrence_is_skipped_while_the_previous_job_has_not_ended() -> None:
    async with TestApp(app) as t:
        await t.advance_time(4 * HOUR)

        assert [t.job(job).scheduled_for for job in jobs_of(t, "long")] == [
            START + HOUR,
            START + 3 * HOUR,
        ]


async def test_skip_is_counted_on_the_cron_and_the_log_says_why() -> None:
    async with TestApp(app) as t:
        await t.advance_time(2 * HOUR)

        (first,) = jobs_of(t, "long")
        assert (row(t, "long")["runs"], row(t, "long")["skipped"]) == (1, 1)
        (said,) = skips(t)
        assert said.startswith("long: the occurrence of 2026-01-01T02:00:00+00:00 was skipped")
        assert f"because the previous run (job {first}, running) has not ended" in said


async def test_skip_in_the_log_names_function_kind_and_caller() -> None:
    async with TestApp(app) as t:
        await t.advance_time(2 * HOUR)

        logged = t.sql("SELECT * FROM _execution_log WHERE outcome = 'skipped'").iloc[0]
        assert (logged["function"], logged["kind"], logged["caller"], logged["attempt"]) == (
            "pause",
            "action",
            "scheduler",
            0,
        )


async def test_other_crons_are_not_held_up_by_an_overlap() -> None:
    async with TestApp(app) as t:
        await t.advance_time(4 * HOUR)

        assert len(jobs_of(t, "hourly")) == 4


# --- run now (5.10) -------------------------------------------------------------------------------
async def test_cron_runs_at_once_and_its_next_run_stays() -> None:
    async with TestApp(app) as t:
        await t.advance_time(10 * MINUTE)
        before = row(t, "hourly")["next_run_at"]

        job = t.run_cron_now("hourly")
        await t.run_due_jobs()

        assert (t.job(job).state, t.job(job).trigger) == ("succeeded", "manual")
        assert t.job(job).scheduled_for == START + 10 * MINUTE
        assert row(t, "hourly")["next_run_at"] == before


async def test_cron_is_run_by_the_name_of_the_system_function() -> None:
    async with TestApp(app) as t:
        job = await t.as_user(ADMIN).run_mutation(RUN_NOW, "hourly")
        await t.run_due_jobs()

        assert t.job(job).state == "succeeded"
        assert await t.run_query(texts) == ["hour"]


async def test_manual_run_is_refused_while_the_previous_one_goes_on() -> None:
    async with TestApp(app) as t:
        job = t.run_cron_now("long")
        await t.run_due_jobs()

        with pytest.raises(CronBusyError, match=f'"long" is still running as job {job}'):
            t.run_cron_now("long")
        with pytest.raises(CronBusyError):
            await t.run_mutation(RUN_NOW, "long")


async def test_manual_run_counts_as_the_previous_run_of_the_next_occurrence() -> None:
    async with TestApp(app) as t:
        await t.advance_time(30 * MINUTE)
        job = t.run_cron_now("long")

        await t.advance_time(HOUR)

        assert jobs_of(t, "long") == [job]
        assert f"job {job}, running" in skips(t)[0]
        assert row(t, "long")["last_job"] == job


async def test_occurrence_after_a_manual_run_that_ended_runs() -> None:
    async with TestApp(app) as t:
        t.run_cron_now("hourly")

        await t.advance_time(HOUR)

        assert triggers(t, "hourly") == ["manual", "cron"]


async def test_run_of_an_unknown_cron_names_the_known_ones() -> None:
    async with TestApp(app) as t:
        with pytest.raises(UnknownCronError, match="digest"):
            t.run_cron_now("hurly")


async def test_admin_runs_a_paused_cron() -> None:
    async with TestApp(app) as t:
        t.pause_cron("hourly")

        t.as_user(ADMIN).run_cron_now("hourly")

        assert len(await t.run_due_jobs()) == 1


# --- operators and viewers (5.10) -----------------------------------------------------------------
async def test_paused_cron_rests_until_it_is_resumed() -> None:
    async with TestApp(app) as t:
        t.as_user(ADMIN).pause_cron("hourly")
        await t.advance_time(5 * HOUR)
        assert jobs_of(t, "hourly") == []

        t.as_user(ADMIN).resume_cron("hourly")
        await t.advance_time(HOUR)

        assert triggers(t, "hourly") == ["cron"]


async def test_pause_outlives_a_restart() -> None:
    async with TestApp(app) as t:
        t.pause_cron("hourly")
        await t.restart(down_for=2 * HOUR)
        await t.advance_time(5 * HOUR)

        assert jobs_of(t, "hourly") == []


@pytest.mark.parametrize("verb", ["run_cron_now", "pause_cron", "resume_cron", "remove_cron"])
async def test_viewer_operates_no_cron(verb: str) -> None:
    async with TestApp(app) as t:
        before = row(t, "hourly")

        with pytest.raises(PermissionDeniedError, match="ann"):
            getattr(t.as_user(VIEWER), verb)("hourly")
        with pytest.raises(PermissionDeniedError, match="ann"):
            await t.as_user(VIEWER).run_mutation(f"_system/scheduler:{verb}", "hourly")

        assert row(t, "hourly") == before
        assert "hourly" in app.registry.crons
        assert jobs_of(t, "hourly") == []


async def test_viewer_has_no_scheduler() -> None:
    async with TestApp(app) as t:
        with pytest.raises(PermissionDeniedError):
            _ = t.as_user(VIEWER).scheduler


async def test_what_an_operator_did_to_a_cron_is_logged() -> None:
    async with TestApp(app) as t:
        t.as_user(ADMIN).pause_cron("hourly")

        logged = t.sql("SELECT * FROM _execution_log").iloc[-1]
        assert (logged["caller"], logged["identity"]) == ("operator", "root")
        assert "hourly" in logged["detail"]


# --- what breaks ----------------------------------------------------------------------------------
async def test_function_that_raises_fails_its_jobs_and_stops_no_cron() -> None:
    async with TestApp(app) as t:
        await t.advance_time(3 * HOUR)

        assert [t.job(job).state for job in jobs_of(t, "broken")] == ["failed"] * 3
        assert len(jobs_of(t, "hourly")) == 3


async def test_crons_due_at_one_instant_become_jobs_in_the_order_of_their_declaration() -> None:
    async with TestApp(app) as t:
        await t.advance_time(HOUR)

        found = t.sql("SELECT cron FROM _scheduled_jobs ORDER BY id")["cron"].tolist()
        assert found == ["hourly", "long", "broken"]
