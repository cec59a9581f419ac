"""What an expression in a zone would do, before it is committed anywhere.

A frozen answer to what somebody types: its next runs, and what the next clock changes do to it, or
the error that says which field is wrong. Never reads a clock, and declares nothing.
"""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.cron_words import MONTHS
from rxferrix_lab.domain.occurrence import Occurrence
from rxferrix_lab.domain.zone import ClockChange, transitions
from rxferrix_lab.errors import CronSyntaxError, UnknownZoneError

RUNS = 8
CHANGES = 2
_LOOK_AHEAD = timedelta(days=366 * 3)
_MICROSECOND = timedelta(microseconds=1)
_DATE = re.compile(rf"on (\d+) ({'|'.join(MONTHS)}) (\d+)")


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a readable expression names next.

    Attributes:
        words: the schedule in plain words.
        runs: the next ones, soonest first; fewer than asked for only before the year 9999.
        explained: a line or more for each of the next clock changes, or one that says that the
            clock is not changed.
    """

    schedule: CronSchedule
    words: str
    runs: tuple[Occurrence, ...]
    explained: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why an expression or a zone cannot be read.

    Attributes:
        problem: the error's own words.
        field: the position of the wrong field, from 1; None where it is not one field.
        close: zones with a name like the one given.
    """

    problem: str
    field: int | None = None
    close: tuple[str, ...] = ()


def outlook(expr: str, zone: str, now: datetime, runs: int = RUNS) -> Outlook | Refusal:
    """What the expression names after `now` in the zone, or why it cannot be read."""
    try:
        schedule = CronSchedule(expr, zone)
    except CronSyntaxError as error:
        return Refusal(str(error), field=error.at)
    except UnknownZoneError as error:
        return Refusal(str(error), close=error.close)
    return outlook_of(schedule, now, runs)


def outlook_of(schedule: CronSchedule, now: datetime, runs: int = RUNS) -> Outlook:
    """What a schedule names after `now`."""
    return Outlook(
        schedule, schedule.words(), next_runs(schedule, now, runs), next_changes(schedule, now)
    )


def next_runs(schedule: CronSchedule, now: datetime, runs: int) -> tuple[Occurrence, ...]:
    """The next occurrences, with what a clock change does to each."""
    found: list[Occurrence] = []
    after = now
    while len(found) < runs:
        instant = schedule.next_instant(after)
        if instant is None:
            break
        found += schedule.occurrences(instant - _MICROSECOND, instant)
        after = instant
    return tuple(found)


def next_changes(schedule: CronSchedule, now: datetime) -> tuple[str, ...]:
    """What each of the next clock changes does to the schedule."""
    changes = transitions(schedule.tz, now, now + _LOOK_AHEAD)[:CHANGES]
    if not changes:
        return tuple(schedule.explain(now.year).splitlines()[-1:])
    return tuple(line for change in changes for line in lines_about(schedule, change))


def lines_about(schedule: CronSchedule, change: ClockChange) -> tuple[str, ...]:
    """What one change of the schedule's own clock does to it."""
    dates = {_words(change.wall_start), _words(change.wall_end)}
    lines = schedule.explain(change.wall_start.year).splitlines()
    return tuple(line for line in lines if _date_in(line) in dates)


def _date_in(line: str) -> str:
    found = _DATE.search(line)
    return " ".join(found.groups()) if found else ""


def _words(wall: datetime) -> str:
    return f"{wall.day} {MONTHS[wall.month - 1]} {wall.year}"
