"""What one change of a zone's clock does to crons, as pictures that a view only has to draw.

Frozen snapshots computed from `domain`: the wall clock against UTC, the lanes of crons around the
change, and one sentence that says what happens. Never reads a clock; knows no colours.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.cron_words import MONTHS
from rxferrix_lab.domain.schedule import Schedule
from rxferrix_lab.domain.zone import ClockChange, load_zone, transitions
from rxferrix_lab.reactive.cron_outlook import lines_about
from rxferrix_lab.reactive.run_marks import (
    Lanes,
    Mark,
    NamedSchedule,
    lanes_between,
    marks_between,
    time_of,
    wall_at,
)

YEARS_AHEAD = 5
_LEAST_SPAN = timedelta(hours=4)  # shown on either side of a change
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Effect:
    """How many occurrences of a schedule one clock change touches."""

    moved: int = 0  # in the gap: they run later by its length
    merged: int = 0  # in the gap, one with a run that is due then anyway
    once: int = 0  # in the repeated time: they run at the first passing only

    @property
    def is_none(self) -> bool:
        """Whether the change leaves the schedule alone."""
        return self == Effect()


@dataclass(frozen=True, slots=True)
class WallStretch:
    """A piece of the wall clock that runs evenly with UTC."""

    start: datetime  # UTC
    end: datetime  # UTC
    offset: timedelta  # the wall clock is ahead of UTC by this


@dataclass(frozen=True, slots=True)
class WallPicture:
    """The wall clock of a zone against UTC around one change, with the runs of one schedule.

    Attributes:
        start: the picture's left edge, UTC.
        end: the picture's right edge, UTC.
        stretches: the wall clock, in order.
        marks: the runs, the times that do not exist, and the second passings.
        is_sampled: whether the marks stand for more runs than are drawn.
    """

    zone: str
    change: ClockChange
    start: datetime
    end: datetime
    stretches: tuple[WallStretch, ...]
    marks: tuple[Mark, ...]
    is_sampled: bool


@dataclass(frozen=True, slots=True)
class CronTold:
    """What one clock change does to one cron, in lines that a person reads."""

    cron: str
    effect: Effect
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ChangePicture:
    """One clock change and the crons around it.

    Attributes:
        sentence: what happens, for somebody who was woken by it.
        lanes: touched crons first, then those of the same zone, then the others.
        told: for each lane of a touched cron, what happens to it.
    """

    zone: str
    change: ClockChange
    sentence: str
    lanes: Lanes
    told: tuple[CronTold, ...]


def changes_from(zone: str, start: datetime, years: int = YEARS_AHEAD) -> list[ClockChange]:
    """The changes of a zone's clock in so many years from a moment on.

    Raises:
        UnknownZoneError: if there is no such zone.
    """
    return transitions(load_zone(zone), start, start + timedelta(days=366 * years))


def changes_of_years(zone: str, first: int, years: int = YEARS_AHEAD) -> list[ClockChange]:
    """The same from the beginning of a year on."""
    return changes_from(zone, datetime(first, 1, 1, tzinfo=UTC), years)


def zone_to_show(schedules: Sequence[NamedSchedule], now: datetime, otherwise: str) -> str:
    """The zone that most crons are kept in, of those whose clock is going to be changed."""
    counted = Counter(named.zone for named in schedules if named.zone is not None)
    with_changes = (zone for zone, _ in counted.most_common() if changes_from(zone, now))
    return next(with_changes, otherwise)


def wall_picture(zone: str, change: ClockChange, schedule: Schedule) -> WallPicture:
    """The wall clock against UTC around a change, with a schedule's runs on it."""
    start, end = _span(change)
    lane = marks_between(schedule, zone, start, end)
    is_of_zone = isinstance(schedule, CronSchedule) and schedule.zone == zone
    marks = lane.marks if is_of_zone else _seen_in(zone, lane.marks)
    return WallPicture(
        zone, change, start, end, _stretches(zone, start, end), marks, lane.is_sampled
    )


def change_picture(
    zone: str, change: ClockChange, schedules: Sequence[NamedSchedule]
) -> ChangePicture:
    """The lanes of schedules around a change, and what is said of them."""
    effects = {named: effect_of(named.schedule, change) for named in schedules}

    def rank(named: NamedSchedule) -> tuple[bool, bool, str]:
        return (effects[named].is_none, named.zone != zone, named.name)

    ordered = sorted(schedules, key=rank)
    lanes = lanes_between(ordered, zone, *_span(change))
    return ChangePicture(
        zone,
        change,
        f"{change_told(zone, change)}; {_fate(change, list(effects.values()))}.",
        lanes,
        tuple(
            CronTold(lane.named.name, effects[lane.named], lines_about(schedule, own))
            for lane in lanes.lanes
            if isinstance(schedule := lane.named.schedule, CronSchedule)
            and not effects[lane.named].is_none
            and (own := own_change(schedule, change)) is not None
        ),
    )


@lru_cache(maxsize=1024)
def effect_of(schedule: Schedule, change: ClockChange) -> Effect:
    """What a change does to the occurrences of a schedule; nothing to an interval."""
    own = own_change(schedule, change)
    if own is None:
        return Effect()
    begin, end = own.instant, own.instant + own.length
    if not own.is_gap:
        begin, end = begin - own.length, begin
    notes = [found.note for found in schedule.occurrences(begin - _SECOND, end - _SECOND)]
    return Effect(
        moved=notes.count("moved by a gap"),
        merged=notes.count("merged"),
        once=notes.count("first of a repeated hour"),
    )


def own_change(schedule: Schedule, change: ClockChange) -> ClockChange | None:
    """How the schedule's own clock is changed at that moment; None where it is not."""
    if not isinstance(schedule, CronSchedule):
        return None
    found = transitions(schedule.tz, change.instant, change.instant + _SECOND)
    return found[0] if found else None


def change_told(zone: str, change: ClockChange) -> str:
    """The change in words: `On 29 March 2026 the clocks in … go from 03:00 to 04:00`."""
    before, after = change.wall_start, change.wall_end
    verb = "go from"
    if not change.is_gap:
        before, after, verb = after, before, "go back from"
    day = "" if after.date() == before.date() else f" on {date_of(after)}"
    times = f"{time_of(before)} to {time_of(after)}{day}"
    return f"On {date_of(before)} the clocks in {zone} {verb} {times}"


def date_of(wall: datetime) -> str:
    """A date in words.

    >>> date_of(datetime(2026, 3, 29, tzinfo=UTC))
    '29 March 2026'
    """
    return f"{wall.day} {MONTHS[wall.month - 1]} {wall.year}"


def _span(change: ClockChange) -> tuple[datetime, datetime]:
    around = max(_LEAST_SPAN, change.length * 1.5)
    return change.instant - around, change.instant + around


def _seen_in(zone: str, marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks of another clock's schedule on this zone's; what that clock skips has no place."""
    tz = load_zone(zone)
    return tuple(
        replace(mark, wall=wall_at(mark.instant, tz))
        for mark in marks
        if mark.kind != "skipped time"
    )


def _stretches(zone: str, start: datetime, end: datetime) -> tuple[WallStretch, ...]:
    tz = load_zone(zone)
    offset = start.astimezone(tz).utcoffset() or timedelta(0)
    found: list[WallStretch] = []
    for change in transitions(tz, start, end):
        found.append(WallStretch(start, change.instant, offset))
        start, offset = change.instant, change.offset_after
    return (*found, WallStretch(start, end, offset))


def _fate(change: ClockChange, effects: list[Effect]) -> str:
    if not effects:
        return "no crons are declared, so nothing is touched"
    touched = [effect for effect in effects if not effect.is_none]
    crons = f"{len(effects)} cron{'' if len(effects) == 1 else 's'}"
    if not touched:
        return f"none of {crons} is touched" if len(effects) > 1 else "the one cron is not touched"
    if not change.is_gap:
        runs = sum(effect.once for effect in touched)
        return (
            f"{len(touched)} of {crons} {_verb(len(touched), 'meets', 'meet')} a time that comes "
            f"twice and {_verb(len(touched), 'runs', 'run')} the first time only "
            f"({_counted(runs, 'repeat')} left out)"
        )
    moved = sum(1 for effect in touched if effect.moved)
    pairs = sum(effect.merged for effect in touched)
    parts = [f"{moved} of {crons} {_verb(moved, 'is', 'are')} moved"] if moved else []
    if pairs:
        of = "" if moved else f", in {len(touched)} of {crons}"
        parts.append(f"{_counted(pairs, 'pair')} {_verb(pairs, 'merges', 'merge')}{of}")
    return ", ".join(parts)


def _verb(number: int, one: str, many: str) -> str:
    return one if number == 1 else many


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
