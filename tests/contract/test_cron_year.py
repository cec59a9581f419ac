"""A whole year of twelve crons in six zones: exactly the occurrences of the oracle, once each.

The oracle walks every wall time of the year, reads it with PEP 495's fold=0, sorts, and drops equal
instants; it knows neither our parser nor our walk.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import MutationCtx
from rxferrix_lab.domain.zone import load_zone
from rxferrix_lab.testing import TestApp

START = datetime(2026, 1, 1, tzinfo=UTC)
YEAR = timedelta(days=365)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Known:
    """A cron, and the same as plain sets of wall-clock values; 0 is Monday."""

    expr: str
    zone: str
    hours: frozenset[int]
    minutes: frozenset[int] = frozenset({0})
    weekdays: frozenset[int] = frozenset(range(7))
    days: frozenset[int] = frozenset(range(1, 32))
    months: frozenset[int] = frozenset(range(1, 13))

    @property
    def name(self) -> str:
        return f"{self.expr} {self.zone}"

    def walls(self) -> Iterator[datetime]:
        day = datetime(2025, 12, 29)  # noqa: DTZ001 - a wall time has no zone
        while day < datetime(2027, 1, 4):  # noqa: DTZ001 - a wall time has no zone
            if self.names(day):
                for hour in self.hours:
                    for minute in self.minutes:
                        yield day.replace(hour=hour, minute=minute)
            day += DAY

    def names(self, day: datetime) -> bool:
        in_week = day.weekday() in self.weekdays
        return in_week and day.day in self.days and day.month in self.months

    def instants(self) -> list[datetime]:
        zone = load_zone(self.zone)
        read = {wall.replace(tzinfo=zone).astimezone(UTC) for wall in self.walls()}
        return sorted(instant for instant in read if START < instant <= START + YEAR)


def some(*values: int) -> frozenset[int]:
    return frozenset(values)


EACH_HOUR = frozenset(range(24))
SUNDAY = some(6)
HALF = some(30)
CRONS = [
    Known("0 30 3 * * *", "Europe/Bucharest", some(3), HALF),
    Known(
        "0 0 * 24-30 3,10 *",
        "Europe/Bucharest",
        EACH_HOUR,
        days=frozenset(range(24, 31)),
        months=some(3, 10),
    ),
    Known("0 30 2 * * SAT-MON", "America/New_York", some(2), HALF, some(5, 6, 0)),
    Known(
        "0 */20 0-3 1,8 3,11 *",
        "America/New_York",
        some(0, 1, 2, 3),
        some(0, 20, 40),
        days=some(1, 8),
        months=some(3, 11),
    ),
    Known("0 15 2 * * SUN,WED", "Australia/Lord_Howe", some(2), some(15), some(6, 2)),
    Known("0 0,45 1,2 * * SUN", "Australia/Lord_Howe", some(1, 2), some(0, 45), SUNDAY),
    Known("0 0 1-3 * * SUN", "Antarctica/Troll", some(1, 2, 3), weekdays=SUNDAY),
    Known("0 0 9 * * FRI", "Antarctica/Troll", some(9), weekdays=some(4)),
    Known("0 0 0 * * SUN", "America/Santiago", some(0), weekdays=SUNDAY),
    Known(
        "0 0 23,0 * 4,9 SAT-SUN",
        "America/Santiago",
        some(0, 23),
        weekdays=some(5, 6),
        months=some(4, 9),
    ),
    Known("0 0 12 1,15 * *", "UTC", some(12), days=some(1, 15)),
    Known("0 0 0 31 * *", "UTC", some(0), days=some(31)),
]


@pytest.fixture
def anyio_backend() -> str:
    """One of the two: what a backend may change is tested with less than a year."""
    return "asyncio"


def year_of_crons() -> RxFerrix:
    """An app whose jobs all stay until they are looked at."""
    app = RxFerrix(interactive=False, keep=2 * YEAR)

    @app.mutation
    def ring(ctx: MutationCtx) -> None: ...

    for cron in CRONS:
        app.cron_tz(cron.name, cron.expr, cron.zone, ring)
    return app


async def test_twelve_crons_in_six_zones_run_once_for_each_occurrence_of_a_year() -> None:
    expected = {cron.name: cron.instants() for cron in CRONS}

    async with TestApp(year_of_crons(), start=START) as t:
        ran = await t.advance_time(YEAR)
        rows = t.sql("SELECT cron, scheduled_for, trigger, state, finished_at FROM _scheduled_jobs")

    found: dict[str, list[datetime]] = defaultdict(list)
    for cron, instant in zip(rows["cron"], rows["scheduled_for"], strict=True):
        found[cron].append(instant.to_pydatetime())
    assert {name: sorted(instants) for name, instants in found.items()} == expected
    assert len(ran) == len(rows) == sum(map(len, expected.values()))
    assert set(rows["trigger"]) == {"cron"}
    assert set(rows["state"]) == {"succeeded"}
    assert (rows["finished_at"] == rows["scheduled_for"]).all()
