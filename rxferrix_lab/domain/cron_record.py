"""What is stored of a declared cron or interval: one row of `_crons`."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Literal

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.cron_spans import SettledSpans
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.schedule import Interval, Schedule
from rxferrix_lab.errors import InstantError

CronKind = Literal["cron", "interval"]
_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class DeclaredCron:
    """A cron or interval as the code declares it; the fields are those of `CronRecord`."""

    name: str
    kind: CronKind
    expr: str | None
    zone: str | None
    every_us: int | None
    function: str
    args: str

    def record(self, now: datetime, next_run_at: datetime | None) -> "CronRecord":
        """The row of one that is declared for the first time, or with another schedule."""
        return CronRecord(
            name=self.name,
            kind=self.kind,
            expr=self.expr,
            zone=self.zone,
            every_us=self.every_us,
            anchor=now if self.kind == "interval" else None,
            function=self.function,
            args=self.args,
            next_run_at=next_run_at,
            declared_at=now,
            seen_until=now,
        )


@dataclass(frozen=True, slots=True)
class CronRecord:
    """One row of `_crons`. The name is the identity.

    Expression, zone or period make the schedule.
    """

    name: str
    kind: CronKind
    expr: str | None  # null for an interval
    zone: str | None  # null for an interval
    every_us: int | None  # microseconds; null for a cron
    anchor: datetime | None  # the interval's first run; null for a cron
    function: str
    args: str  # JSON
    next_run_at: datetime | None  # null when nothing is left before the year 9999
    declared_at: datetime
    # The last occurrence, whatever became of it, or when it was declared or resumed, if later.
    seen_until: datetime
    last_run_at: datetime | None = None  # when its latest job was made
    last_job: JobId | None = None
    runs: int = 0
    skipped: int = 0
    missed: int = 0
    paused: bool = False
    settled: str = "[]"  # SettledSpans as JSON

    def schedule(self) -> Schedule:
        """The schedule that the row describes.

        Raises:
            CronSyntaxError, UnknownZoneError, InstantError: if the row was damaged or its zone is
                gone.
        """
        if self.every_us is None:
            return _cron_schedule(self.expr or "", self.zone or "")
        if self.anchor is None:
            raise InstantError(f"the interval {self.name} has lost its anchor")
        return Interval(timedelta(microseconds=self.every_us), self.anchor)

    def following(self, after: datetime) -> datetime | None:
        """The first occurrence later than `after` that is not settled; None if none is left."""
        schedule, spans = self.schedule(), SettledSpans.read(self.settled)
        found = schedule.next_instant(after)
        while found is not None and (span := spans.around(found)) is not None:
            found = schedule.next_instant(span[1])
        return found

    def latest(self, until: datetime) -> datetime | None:
        """The last occurrence at or before a moment that is not settled."""
        schedule, spans = self.schedule(), SettledSpans.read(self.settled)
        found = schedule.previous_instant(until)
        while found is not None and (span := spans.around(found)) is not None:
            found = schedule.previous_instant(span[0] - _MICROSECOND)
        return found

    def unsettled(self, first: datetime, last: datetime) -> int:
        """How many occurrences from `first` to `last`, both included, are not settled."""
        count = self.schedule().count
        settled = SettledSpans.read(self.settled).within(first, last)
        taken = sum(count(begin - _MICROSECOND, end) for begin, end in settled)
        return count(first - _MICROSECOND, last) - taken

    def names(self, instant: datetime) -> bool:
        """Whether an instant is an occurrence of the schedule."""
        return self.schedule().count(instant - _MICROSECOND, instant) > 0

    def settling(self, occurrence: datetime) -> "CronRecord":
        """The row once an occurrence became a job or was skipped; the next run follows it."""
        before = self.schedule().previous_instant(occurrence - _MICROSECOND)
        spans = SettledSpans.read(self.settled).adding(occurrence, before)
        moved = replace(self, settled=spans.text(), seen_until=occurrence)
        return replace(moved, next_run_at=moved.following(occurrence))

    def going_on_from(self, now: datetime) -> "CronRecord":
        """The row whose next run is computed from now; an interval that begins later begins before.

        Its runs keep their distance to the anchor, which moves by whole periods.
        """
        moved = replace(self, seen_until=now)
        if self.every_us is not None and self.anchor is not None and self.anchor > now:
            every = timedelta(microseconds=self.every_us)
            periods = -((now - self.anchor) // every)
            moved = replace(moved, anchor=self.anchor - periods * every)
        return replace(moved, next_run_at=moved.following(now))

    def runs_like(self, other: "CronRecord | DeclaredCron") -> bool:
        """Whether both name the same occurrences (contract 5.9).

        Same kind, expression, zone, period.
        """
        return (self.kind, self.expr, self.zone, self.every_us) == (
            other.kind,
            other.expr,
            other.zone,
            other.every_us,
        )


@lru_cache(maxsize=1024)
def _cron_schedule(expr: str, zone: str) -> CronSchedule:
    """A schedule is a value, and reading an expression costs more than asking it."""
    return CronSchedule(expr, zone)
