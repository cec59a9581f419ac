"""What is stored of a declared cron or interval: one row of `_crons`."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.schedule import Interval, Schedule

CronKind = Literal["cron", "interval"]


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
    last_run_at: datetime | None = None  # when its latest job was made
    last_job: JobId | None = None
    runs: int = 0
    skipped: int = 0
    missed: int = 0
    paused: bool = False
    latest_occurrence: datetime | None = None  # the furthest that became a job; null before

    def schedule(self) -> Schedule:
        """The schedule that the row describes.

        Raises:
            CronSyntaxError, UnknownZoneError, InstantError: if the row was damaged or its zone is
                gone.
        """
        if self.every_us is not None and self.anchor is not None:
            return Interval(timedelta(microseconds=self.every_us), self.anchor)
        return CronSchedule(self.expr or "", self.zone or "UTC")

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
