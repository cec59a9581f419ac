"""Schedules: a cron or an interval, asked in the same words.

Both answer `next_instant`, `previous_instant`, `occurrences`, `count` and `words`, purely. Where
the anchor of an interval is kept, and what becomes of an occurrence, is decided elsewhere.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.epoch import EARLIEST, EPOCH, HORIZON, WALL_EPOCH, since_epoch
from rxferrix_lab.domain.occurrence import Occurrence
from rxferrix_lab.errors import InstantError

SHORTEST = timedelta(seconds=1)
LONGEST = timedelta(days=3653)  # ten years

_UNITS = (
    ("day", timedelta(days=1)),
    ("hour", timedelta(hours=1)),
    ("minute", timedelta(minutes=1)),
)


@dataclass(frozen=True, slots=True)
class Interval:
    """Occurrences at `anchor`, `anchor + every`, and so on: exact, without drift.

    Attributes:
        every: the period, from one second to ten years.
        anchor: the first occurrence; kept in UTC.

    Raises:
        InstantError: if the period is out of range, or the anchor naive or not in years 2-9998.

    >>> from datetime import UTC
    >>> beat = Interval(timedelta(seconds=30), datetime(2026, 1, 1, tzinfo=UTC))
    >>> beat.next_instant(datetime(2026, 1, 1, 0, 0, 30, tzinfo=UTC)).isoformat()
    '2026-01-01T00:01:00+00:00'
    """

    every: timedelta
    anchor: datetime

    def __post_init__(self) -> None:
        """Refuse what cannot be meant, and keep the anchor in UTC."""
        if not SHORTEST <= self.every <= LONGEST:
            raise InstantError(
                f"an interval of {self.every} cannot be kept; the period is one second or more, "
                "and at most ten years"
            )
        elapsed = since_epoch(self.anchor)
        if not EARLIEST - EPOCH <= elapsed < HORIZON - EPOCH:
            raise InstantError(f"the anchor {self.anchor} lies outside the years 2 to 9998")
        object.__setattr__(self, "anchor", EPOCH + elapsed)

    def next_instant(self, after: datetime) -> datetime | None:
        """The first occurrence strictly later than `after`; None if none before the year 9999.

        Raises:
            InstantError: if `after` is naive.
        """
        step = max(0, self._steps(after) + 1)
        return self.anchor + step * self.every if step <= self._last_step() else None

    def previous_instant(self, at_or_before: datetime) -> datetime | None:
        """The latest occurrence at or before a moment; None before the anchor.

        Raises:
            InstantError: if the moment is naive.
        """
        step = min(self._steps(at_or_before), self._last_step())
        return self.anchor + step * self.every if step >= 0 else None

    def occurrences(self, after: datetime, until: datetime) -> list[Occurrence]:
        """All occurrences later than `after`, up to and including `until`, in order.

        Raises:
            InstantError: if either is naive.
        """
        return [
            Occurrence(instant, WALL_EPOCH + (instant - EPOCH))
            for instant in (self.anchor + step * self.every for step in self._range(after, until))
        ]

    def count(self, after: datetime, until: datetime) -> int:
        """How many occurrences `occurrences` would list.

        Raises:
            InstantError: if either moment is naive.
        """
        return len(self._range(after, until))

    def words(self) -> str:
        """The period in plain words.

        >>> Interval(timedelta(minutes=90), EPOCH).words()
        'every 90 minutes'
        """
        for unit, length in _UNITS:
            if self.every % length == timedelta(0):
                return _every(str(self.every // length), unit)
        return _every(f"{self.every.total_seconds():.6f}".rstrip("0").rstrip("."), "second")

    def _steps(self, moment: datetime) -> int:
        """Whole periods from the anchor to a moment; negative before it."""
        return (since_epoch(moment) - (self.anchor - EPOCH)) // self.every

    def _last_step(self) -> int:
        return (HORIZON - self.anchor - timedelta.resolution) // self.every

    def _range(self, after: datetime, until: datetime) -> range:
        last = min(self._steps(until), self._last_step())
        return range(max(0, self._steps(after) + 1), last + 1)


def _every(number: str, unit: str) -> str:
    return f"every {unit}" if number == "1" else f"every {number} {unit}s"


Schedule = CronSchedule | Interval
