"""Crons against a second implementation.

It walks all wall times, reads each with fold=0, sorts, and drops equals. Every change of every zone
from 2000 to 2037 is visited. Zones that make the same change at the same instant (Paris and Berlin)
are visited once: no zone changes its clock twice within a week, so the days around a change depend
on its instant and its two offsets alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.zone import ClockChange, load_zone, transitions, zone_names

START, END = datetime(2000, 1, 1, tzinfo=UTC), datetime(2038, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
STEP = timedelta(minutes=5)
WEEKDAYS = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"]  # by datetime.weekday()


@dataclass(frozen=True)
class Case:
    """An expression, and the same as sets of wall-clock values, written without our parser."""

    expr: str
    hours: frozenset[int]
    minutes: frozenset[int]
    weekdays: frozenset[int] = frozenset(range(7))

    def instants(self, table: list[tuple[datetime, datetime]]) -> list[datetime]:
        """The instants of the wall times that it names, sorted, equal ones once."""
        hours, minutes, weekdays = self.hours, self.minutes, self.weekdays
        return sorted(
            {
                utc
                for wall, utc in table
                if wall.minute in minutes and wall.hour in hours and wall.weekday() in weekdays
            }
        )


@cache
def changes_of_the_world() -> dict[tuple[datetime, timedelta, timedelta], str]:
    seen: dict[tuple[datetime, timedelta, timedelta], str] = {}
    for name in zone_names():
        for change in transitions(load_zone(name), START, END):
            seen.setdefault((change.instant, change.offset_before, change.offset_after), name)
    return seen


def cases_at(change: ClockChange) -> list[Case]:
    middle = change.wall_start + change.length / 2
    middle = middle.replace(minute=middle.minute // 5 * 5)
    hour, minute, weekday = middle.hour, middle.minute, middle.weekday()
    later = (hour + 1) % 24
    all_hours = frozenset(range(24))
    return [
        Case(f"0 {minute} {hour} * * *", frozenset({hour}), frozenset({minute})),
        Case("0 */5 * * * *", all_hours, frozenset(range(0, 60, 5))),
        Case("0 0 * * * *", all_hours, frozenset({0})),
        Case(
            f"0 0,{minute},45 {hour},{later},23 * * *",
            frozenset({hour, later, 23}),
            frozenset({0, minute, 45}),
        ),
        Case(
            f"0 {minute} {hour} * * {WEEKDAYS[weekday]}",
            frozenset({hour}),
            frozenset({minute}),
            frozenset({weekday}),
        ),
        Case(
            "0 */20 */3 * * MON-FRI",
            frozenset(range(0, 24, 3)),
            frozenset({0, 20, 40}),
            frozenset(range(5)),
        ),
    ]


def walls_around(change: ClockChange) -> Iterator[datetime]:
    wall = change.wall_start.replace(minute=change.wall_start.minute // 5 * 5, second=0) - DAY
    end = change.wall_end + 2 * DAY
    while wall <= end:
        yield wall
        wall += STEP


def test_occurrences_are_those_of_the_brute_force_around_every_change_of_every_zone() -> None:
    visited = 0
    for (instant, before, after), name in changes_of_the_world().items():
        visited += 1
        change = ClockChange(instant, before, after)
        zone = load_zone(name)
        low, high = instant - DAY, instant + 2 * DAY
        read = ((wall, wall.replace(tzinfo=zone).astimezone(UTC)) for wall in walls_around(change))
        table = [(wall, utc) for wall, utc in read if low < utc <= high]
        for case in cases_at(change):
            expected = case.instants(table)

            found = CronSchedule(case.expr, name).occurrences(low, high)

            assert [o.instant for o in found] == expected, (name, case.expr, instant)

    assert visited > 1000


def test_next_previous_and_count_agree_with_the_list_around_every_change() -> None:
    rng = Random(20260101)
    for (instant, before, after), name in changes_of_the_world().items():
        change = ClockChange(instant, before, after)
        case = rng.choice(cases_at(change))
        schedule = CronSchedule(case.expr, name)
        low, high = instant - 2 * DAY, instant + 16 * DAY
        listed = [o.instant for o in schedule.occurrences(low, high)]
        reach = 2 * int(change.length.total_seconds())
        asked = [instant + timedelta(seconds=rng.randint(-reach, reach)) for _ in range(6)]
        asked += [instant, instant - timedelta(seconds=1), rng.choice(listed[:-1])]

        for moment in asked:
            place = (name, case.expr, moment)
            earlier = [i for i in listed if i <= moment]
            assert schedule.next_instant(moment) == next(i for i in listed if i > moment), place
            assert schedule.count(low, moment) == len(earlier), place
            assert schedule.count(moment, high) == len(listed) - len(earlier), place
            if earlier:
                assert schedule.previous_instant(moment) == earlier[-1], place


FIELD = st.sampled_from(["*", "0", "*/7", "30", "15-45/10", "59", "5,6,50"])
HOUR = st.sampled_from(["*", "*/5", "1-3", "22-2", "0", "23", "2,3"])
DAYS = st.sampled_from(["*", "1", "*/9", "28-31", "L", "15W", "LW"])
MONTHS = st.sampled_from(["*", "3,10", "NOV-MAR", "2"])
WEEKDAY = st.sampled_from(["*", "SUN", "MON-FRI", "SUN#2", "L5", "6-1"])


@settings(max_examples=300, deadline=None)
@given(
    second=FIELD,
    minute=FIELD,
    hour=HOUR,
    day=DAYS,
    month=MONTHS,
    weekday=WEEKDAY,
    name=st.sampled_from(zone_names()),
    start_s=st.integers(-1_500_000_000, 4_000_000_000),
)
def test_occurrences_strictly_increase_and_all_questions_agree(
    *,
    second: str,
    minute: str,
    hour: str,
    day: str,
    month: str,
    weekday: str,
    name: str,
    start_s: int,
) -> None:
    if not {day, weekday} & {"*"}:
        day = "1"
        weekday = "SUN"
    schedule = CronSchedule(f"{second} {minute} {hour} {day} {month} {weekday}", name)
    after = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=start_s)
    first = schedule.next_instant(after)
    assert first is not None
    until = first + timedelta(hours=7)

    listed = schedule.occurrences(after, until)

    instants = [o.instant for o in listed]
    assert all(a < b for a, b in pairwise(instants))
    assert instants[0] == first
    assert schedule.count(after, until) == len(listed)
    assert schedule.previous_instant(until) == instants[-1]
    assert schedule.next(after).astimezone(UTC) == first
    for occurrence in listed[:50]:
        zoned = occurrence.wall.replace(tzinfo=schedule.tz, fold=0)
        assert zoned.astimezone(UTC) == occurrence.instant or occurrence.note == "merged"
