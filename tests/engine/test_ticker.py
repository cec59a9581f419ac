"""The ticker: which crons it hands in and when, and a clock that leaps under a running app."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import anyio

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx
from rxferrix_lab.domain.cron_record import CronRecord, DeclaredCron
from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.engine.clock import SystemClock, VirtualClock
from rxferrix_lab.engine.ticker import Ticker
from rxferrix_lab.engine.writer import Answer, Request

START = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


@dataclass
class Declarations:
    """A program of crons and nothing else."""

    crons: Mapping[str, DeclaredCron]
    is_interactive: bool = False
    pools: Mapping[str, Workpool] = field(default_factory=dict[str, Workpool])
    tables: Mapping[str, str] = field(default_factory=dict[str, str])

    def mutation(self, name: str) -> None:
        return None

    def action(self, name: str) -> None:
        return None

    def completion_args(self, job: JobRecord) -> str:
        return job.args


def declared(name: str, minute: int) -> DeclaredCron:
    return DeclaredCron(name, "cron", f"0 {minute} * * * *", "UTC", None, "note", "{}")


class Bench:
    """A ticker whose requests are kept instead of written."""

    def __init__(self, *crons: DeclaredCron) -> None:
        self.clock = VirtualClock(START)
        self.submitted: list[Request] = []
        self.program = Declarations({cron.name: cron for cron in crons})
        self.ticker = Ticker(self.program, self.clock, lambda *some: self.submitted.extend(some))
        self.rows = {cron.name: cron.record(START, None).going_on_from(START) for cron in crons}
        self.ticker.learn(self.rows, START)

    def tick(self, now: datetime) -> list[Request]:
        """The requests that a tick hands in."""
        self.clock.jump_to(now)
        self.submitted.clear()
        self.ticker.tick(now)
        return list(self.submitted)


def moved(row: CronRecord) -> Answer:
    assert row.next_run_at is not None
    return Answer(row.settling(row.next_run_at))


def test_next_instant_is_the_earliest_of_all_crons() -> None:
    bench = Bench(declared("late", 20), declared("early", 10))

    assert bench.ticker.next_instant() == START + 10 * MINUTE


def test_nothing_is_handed_in_before_it_is_due() -> None:
    bench = Bench(declared("c", 10))

    assert bench.tick(START + 10 * MINUTE - SECOND) == []


def test_crons_are_handed_in_by_next_run_and_then_by_declaration() -> None:
    bench = Bench(declared("b", 20), declared("a", 20), declared("first", 10))

    requests = bench.tick(START + 20 * MINUTE)
    for request, name in zip(requests, ("first", "b", "a"), strict=True):
        assert request.landed is not None
        request.landed(moved(bench.rows[name]))

    assert {name: row.seen_until for name, row in bench.ticker.crons.items()} == {
        "first": START + 10 * MINUTE,
        "b": START + 20 * MINUTE,
        "a": START + 20 * MINUTE,
    }


def test_nothing_more_is_handed_in_until_all_have_landed() -> None:
    bench = Bench(declared("a", 10), declared("b", 10))
    first, last = bench.tick(START + 10 * MINUTE)
    assert first.landed is not None
    assert last.landed is not None

    first.landed(moved(bench.rows["a"]))
    assert bench.tick(START + 2 * HOUR) == []
    assert bench.ticker.next_instant() is None

    last.landed(moved(bench.rows["b"]))
    assert len(bench.tick(START + 2 * HOUR)) == 2


def test_cron_that_could_not_be_run_is_tried_again_in_a_minute() -> None:
    bench = Bench(declared("c", 10))
    (request,) = bench.tick(START + 10 * MINUTE)
    assert request.landed is not None

    request.landed(Answer(error=OSError("unforeseen")))

    assert bench.ticker.next_instant() == START + 11 * MINUTE
    assert len(bench.tick(START + 11 * MINUTE)) == 1


def test_cron_that_was_removed_meanwhile_is_forgotten() -> None:
    bench = Bench(declared("c", 10))
    (request,) = bench.tick(START + 10 * MINUTE)
    assert request.landed is not None

    request.landed(Answer(None))

    assert bench.ticker.next_instant() is None


def test_paused_and_undeclared_crons_rest() -> None:
    bench = Bench(declared("paused", 10), declared("gone", 10))
    rows = bench.rows | {"paused": replace(bench.rows["paused"], paused=True)}
    bench.program.crons = {"paused": declared("paused", 10)}
    bench.ticker.learn(rows, START)

    assert bench.ticker.next_instant() is None
    assert bench.tick(START + HOUR) == []
    assert bench.ticker.is_dormant("gone")


def test_clock_set_back_by_more_than_a_day_is_work() -> None:
    bench = Bench(declared("c", 10))

    assert bench.tick(START - timedelta(hours=24)) == []
    assert len(bench.tick(START - timedelta(hours=24) - SECOND)) == 1


def test_stopped_ticker_hands_nothing_in() -> None:
    bench = Bench(declared("c", 10))
    bench.ticker.is_stopped = True

    assert bench.tick(START + HOUR) == []
    assert bench.ticker.next_instant() is None


class Wristwatch(SystemClock):
    """Real time, at another hour; somebody may set it."""

    def __init__(self, shows: datetime) -> None:
        self.ahead = shows - super().now()

    def now(self) -> datetime:
        return super().now() + self.ahead


async def test_suspend_runs_one_job_for_what_passed_and_the_schedule_goes_on() -> None:
    clock = Wristwatch(START + 10 * MINUTE)
    app = RxFerrix(clock=clock, interactive=False)
    rang = anyio.Event()

    @app.action
    async def ring(ctx: ActionCtx) -> None:
        rang.set()

    app.cron("bell", "0 0 * * * *", ring)
    async with app:
        clock.ahead += 3 * HOUR  # the monotonic clock stood meanwhile, as in suspend
        with anyio.fail_after(20):
            await rang.wait()

        (job,) = app.jobs(cron="bell").to_dict("records")
        assert (job["trigger"], job["missed"]) == ("catch_up", 3)
        assert job["scheduled_for"] == START + 3 * HOUR
        assert app.sql("SELECT next_run_at FROM _crons")["next_run_at"][0] == START + 4 * HOUR


async def test_interval_declared_in_real_time_begins_with_an_ordinary_run() -> None:
    app = RxFerrix(interactive=True)
    rang = anyio.Event()

    @app.action
    async def ring(ctx: ActionCtx) -> None:
        rang.set()

    async with app:
        app.interval("beat", HOUR, ring)
        with anyio.fail_after(20):
            await rang.wait()

        (job,) = app.jobs(cron="beat").to_dict("records")
        assert (job["trigger"], job["missed"]) == ("cron", 0)
