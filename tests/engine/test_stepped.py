"""An app on a virtual clock, started like any other: calls are answered, time moves when asked."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rxferrix_lab import (
    ActionCtx,
    InstantError,
    JobId,
    MutationCtx,
    NotRunningError,
    QueryCtx,
    RxFerrix,
    VirtualClock,
    VirtualTimeError,
)

START = datetime(2026, 3, 28, 12, tzinfo=UTC)


def new_app(database: str | Path = ":memory:") -> RxFerrix:
    app = RxFerrix(database, clock=VirtualClock(START), interactive=True)
    app.table("notes", "text VARCHAR")

    @app.query
    def texts(ctx: QueryCtx) -> list[str]:
        return [text for (text,) in ctx.db.sql("SELECT text FROM notes ORDER BY id")]

    @app.mutation
    def note(ctx: MutationCtx, text: str) -> int:
        return ctx.db.insert("notes", {"text": text})

    @app.mutation
    def note_later(ctx: MutationCtx, text: str, hours: int) -> JobId:
        return ctx.scheduler.run_after(timedelta(hours=hours), note, text)

    @app.action
    async def slow(ctx: ActionCtx) -> str:
        await ctx.sleep(timedelta(hours=1))
        await ctx.run_mutation(note, "slow")
        return "slept"

    @app.mutation
    def begin_slow(ctx: MutationCtx) -> JobId:
        return ctx.scheduler.run_after(timedelta(0), slow)

    return app


def call(app: RxFerrix, name: str, *args: object) -> JobId:
    return app.call(app.registry.function(name), *args)  # type: ignore[arg-type]


@pytest.fixture
def app() -> Iterator[RxFerrix]:
    app = new_app().start()
    yield app
    app.stop()


def texts(app: RxFerrix) -> list[str]:
    return call(app, "texts")  # type: ignore[return-value]


def test_calls_are_answered_while_time_stands(app: RxFerrix) -> None:
    call(app, "note", "now")

    assert texts(app) == ["now"]
    assert app.clock.now() == START


def test_what_is_due_while_time_stands_runs_by_itself(app: RxFerrix) -> None:
    job = call(app, "note_later", "at once", 0)

    app.advance(timedelta(0))

    assert app.job(job).state == "succeeded"
    assert app.clock.now() == START


def test_a_later_job_runs_when_time_is_moved_over_it(app: RxFerrix) -> None:
    job = call(app, "note_later", "later", 3)

    before, ran = app.advance(timedelta(hours=2)), app.advance(timedelta(hours=2))

    assert (before, ran) == ([], [job])
    assert app.job(job).started_at == START + timedelta(hours=3)


def test_advance_to_the_same_instant_twice_does_nothing_the_second_time(app: RxFerrix) -> None:
    job = call(app, "note_later", "later", 3)
    until = START + timedelta(hours=5)

    first, second = app.advance_to(until), app.advance_to(until)

    assert (first, second) == ([job], [])


def test_advance_to_an_instant_that_has_passed_leaves_time_where_it_is(app: RxFerrix) -> None:
    app.advance(timedelta(hours=5))

    app.advance_to(START)

    assert app.clock.now() == START + timedelta(hours=5)


def test_run_in_the_gap_of_bucharest_is_moved_by_an_hour(app: RxFerrix) -> None:
    note = app.registry.function("note")
    app.cron_tz("night", "0 30 3 * * *", "Europe/Bucharest", note, "night")  # type: ignore[arg-type]

    app.advance_to(datetime(2026, 3, 29, 12, tzinfo=UTC))

    runs = app.jobs(cron="night")
    assert [str(at) for at in runs["scheduled_for"]] == ["2026-03-29 01:30:00+00:00"]


def test_action_that_sleeps_goes_on_when_time_is_moved(app: RxFerrix) -> None:
    job = call(app, "begin_slow")

    app.advance(timedelta(minutes=59))
    state = app.job(job).state
    app.advance(timedelta(minutes=1))

    assert (state, app.job(job).state) == ("running", "succeeded")
    assert texts(app) == ["slow"]


def test_stopping_gives_a_sleeping_action_its_grace_and_records_it(tmp_path: Path) -> None:
    app = new_app(tmp_path / "lab.duckdb").start()
    job = call(app, "begin_slow")
    app.advance(timedelta(0))

    app.stop()
    app.start()

    error = app.job(job).error
    app.stop()
    assert error is not None
    assert error.kind == "interrupted"


def test_time_of_a_stopped_app_is_not_moved() -> None:
    app = new_app()

    with pytest.raises(NotRunningError):
        app.advance(timedelta(hours=1))


@pytest.mark.parametrize("to", [timedelta(hours=-1), datetime(2026, 4, 1)])  # noqa: DTZ001  # naive
def test_time_is_not_moved_back_or_to_a_naive_instant(
    app: RxFerrix, to: datetime | timedelta
) -> None:
    with pytest.raises(InstantError):
        app.advance(to) if isinstance(to, timedelta) else app.advance_to(to)


def test_time_of_the_machine_is_not_moved() -> None:
    app = RxFerrix().start()
    try:
        with pytest.raises(VirtualTimeError, match="VirtualClock"):
            app.advance(timedelta(hours=1))
    finally:
        app.stop()
