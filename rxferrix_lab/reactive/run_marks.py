"""The runs of schedules as marks on a lane: ordinary, moved, merged, first only.

Frozen snapshots computed from `domain` for a span of time that is given. Never reads a clock, never
decides what runs, and knows neither colours nor glyphs.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal, assert_never
from zoneinfo import ZoneInfo

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.cron_words import clock
from rxferrix_lab.domain.occurrence import Occurrence
from rxferrix_lab.domain.schedule import Interval, Schedule
from rxferrix_lab.domain.zone import ClockChange, load_zone, transitions
from rxferrix_lab.errors import RxFerrixError

MarkKind = Literal["run", "moved", "merged", "first only", "skipped time", "second passing"]

MOST_MARKS = 300  # a lane with more runs than this is drawn by a sample of them
SAMPLES = 150
LANES_SHOWN = 40
_SECOND = timedelta(seconds=1)
_REACH = timedelta(days=2)  # the widest gap is a day


@dataclass(frozen=True, slots=True)
class NamedSchedule:
    """A schedule that a lane is drawn for.

    Attributes:
        name: the cron's name, or what a preview calls it.
        schedule: the cron or the interval.
    """

    name: str
    schedule: Schedule

    @property
    def text(self) -> str:
        """The schedule literally: the expression of a cron, the period of an interval."""
        match self.schedule:
            case CronSchedule(expr=expr):
                return expr
            case Interval():
                return self.schedule.words()
            case _:
                assert_never(self.schedule)

    @property
    def zone(self) -> str | None:
        """The zone of a cron; None for an interval, which no clock change touches."""
        return self.schedule.zone if isinstance(self.schedule, CronSchedule) else None


@dataclass(frozen=True, slots=True)
class Mark:
    """One place on a lane.

    Attributes:
        kind: a run of some kind, or a wall time at which nothing runs: one that the clock skips,
            or the second passing of one that comes twice.
        instant: where on the line of time, UTC; of a skipped time the moment of the clock change.
        wall: what the clock shows there, naive; of a skipped time the time that does not exist.
        said: the same in words.
    """

    kind: MarkKind
    instant: datetime
    wall: datetime
    said: str


@dataclass(frozen=True, slots=True)
class Lane:
    """The runs of one schedule within a span of time.

    Attributes:
        runs: how many there are.
        marks: all of them and what belongs to them, or a sample where there are too many.
    """

    named: NamedSchedule
    runs: int
    marks: tuple[Mark, ...]

    @property
    def is_sampled(self) -> bool:
        """Whether the marks stand for more runs than are drawn."""
        return self.runs > MOST_MARKS


@dataclass(frozen=True, slots=True)
class Lanes:
    """Lanes over one span of time, seen in one zone.

    Attributes:
        start: UTC; excluded.
        end: UTC; included.
        changes: the changes of the zone's clock within the span.
        left_out: how many schedules have no lane here, because there are too many.
    """

    zone: str
    start: datetime
    end: datetime
    lanes: tuple[Lane, ...]
    changes: tuple[ClockChange, ...]
    left_out: int = 0


def schedule_named(name: str, expr: str, zone: str) -> NamedSchedule:
    """An expression under a name.

    Raises:
        CronSyntaxError: if the expression cannot be read, or never matches.
        UnknownZoneError: if there is no such zone.
    """
    return NamedSchedule(name, CronSchedule(expr, zone))


def schedules_of(crons: Iterable[CronRecord]) -> tuple[NamedSchedule, ...]:
    """The schedules of stored crons, in order; a row that cannot be read has none."""
    found: list[NamedSchedule] = []
    for cron in crons:
        try:
            schedule = _schedule(cron.expr, cron.zone, cron.every_us, cron.anchor)
        except RxFerrixError:
            continue
        found.append(NamedSchedule(cron.name, schedule))
    return tuple(found)


# Screens ask again at every commit, and an expression is slow to read.
@lru_cache(maxsize=1024)
def _schedule(
    expr: str | None, zone: str | None, every_us: int | None, anchor: datetime | None
) -> Schedule:
    if every_us is not None and anchor is not None:
        return Interval(timedelta(microseconds=every_us), anchor)
    return CronSchedule(expr or "", zone or "UTC")


def lanes_between(
    schedules: Sequence[NamedSchedule], zone: str, start: datetime, end: datetime
) -> Lanes:
    """The lanes of schedules between two instants.

    Raises:
        UnknownZoneError: if there is no such zone.
    """
    seen_in = load_zone(zone)
    return Lanes(
        zone,
        start,
        end,
        tuple(_lane(named, seen_in, start, end) for named in schedules[:LANES_SHOWN]),
        tuple(transitions(seen_in, start, end)),
        max(0, len(schedules) - LANES_SHOWN),
    )


def marks_between(schedule: Schedule, zone: str, start: datetime, end: datetime) -> Lane:
    """The lane of one schedule, for a picture of its own."""
    return _lane(NamedSchedule("", schedule), load_zone(zone), start, end)


def wall_at(instant: datetime, zone: ZoneInfo) -> datetime:
    """What the zone's clock shows at an instant; naive."""
    return instant.astimezone(zone).replace(tzinfo=None)


def time_of(wall: datetime) -> str:
    """A wall time of day, with seconds where there are any."""
    return clock(wall.hour * 3600 + wall.minute * 60 + wall.second)


def _lane(named: NamedSchedule, seen_in: ZoneInfo, start: datetime, end: datetime) -> Lane:
    schedule = named.schedule
    runs = schedule.count(start, end)
    found = (
        schedule.occurrences(start, end)
        if runs <= MOST_MARKS
        else list(_sample(schedule, start, end))
    )
    own = schedule.tz if isinstance(schedule, CronSchedule) else seen_in
    changes = transitions(own, start - _REACH, end + _REACH)
    marks = (mark for occurrence in found for mark in _marks(occurrence, own, changes))
    return Lane(named, runs, tuple(mark for mark in marks if start <= mark.instant <= end))


def _sample(schedule: Schedule, start: datetime, end: datetime) -> Iterator[Occurrence]:
    """The first occurrence in each of many equal steps."""
    step = (end - start) / SAMPLES
    last = start
    for index in range(SAMPLES):
        after = max(last, start + index * step)
        instant = schedule.next_instant(after)
        if instant is None or instant > end:
            return
        last = instant
        yield from schedule.occurrences(instant - _SECOND, instant)[-1:]


def _marks(
    occurrence: Occurrence, zone: ZoneInfo, changes: Sequence[ClockChange]
) -> Iterator[Mark]:
    instant, wall = occurrence.instant, wall_at(occurrence.instant, zone)
    match occurrence.note:
        case "":
            yield Mark("run", instant, wall, f"runs at {time_of(wall)}")
        case "moved by a gap":
            said = f"{time_of(occurrence.wall)} does not exist; runs at {time_of(wall)}"
            yield Mark("moved", instant, wall, said)
            yield _skipped(instant, occurrence.wall, changes, said)
        case "merged":
            nominal = occurrence.wall - _gap_before(instant, changes).length
            said = f"{time_of(nominal)} does not exist; it is one with the run at {time_of(wall)}"
            yield Mark("merged", instant, wall, said)
            yield _skipped(instant, nominal, changes, said)
        case "first of a repeated hour":
            said = f"{time_of(wall)} comes twice; runs the first time only"
            yield Mark("first only", instant, wall, said)
            again = instant + _fold_after(instant, changes).length
            yield Mark("second passing", again, wall, f"{said}, and not here")
        case _:
            assert_never(occurrence.note)


def _skipped(
    instant: datetime, nominal: datetime, changes: Sequence[ClockChange], said: str
) -> Mark:
    return Mark("skipped time", _gap_before(instant, changes).instant, nominal, said)


def _gap_before(instant: datetime, changes: Sequence[ClockChange]) -> ClockChange:
    return [change for change in changes if change.is_gap and change.instant <= instant][-1]


def _fold_after(instant: datetime, changes: Sequence[ClockChange]) -> ClockChange:
    return next(change for change in changes if not change.is_gap and change.instant > instant)
