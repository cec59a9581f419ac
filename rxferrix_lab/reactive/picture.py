"""A picture of a running app: everything the screens show of it at one moment, frozen.

Holds what was found and formats nothing. A picture is shared by all sessions, so nothing in it
changes.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.job import JobId, JobRecord, JobState
from rxferrix_lab.storage.statistics import (
    Bucket,
    Counts,
    FailureGroup,
    LogRow,
    LogSearch,
    PoolRun,
)

__all__ = [
    "BEFORE_ALL",
    "Bucket",
    "Counts",
    "CronPicture",
    "CronRun",
    "FailureGroup",
    "Health",
    "JobDetails",
    "LogRow",
    "LogSearch",
    "NextRun",
    "Overview",
    "Picture",
    "PoolPicture",
    "PoolRun",
    "PoolSample",
    "Progress",
    "RunOutcome",
]

RunOutcome = JobState | Literal["skipped"]
BEFORE_ALL = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class CronRun:
    """One occurrence of a cron: the job that it became, or why it did not."""

    at: datetime
    job: JobId | None  # null where it was skipped
    outcome: RunOutcome
    missed: int = 0  # occurrences that passed unseen, on a run that made up for them
    detail: str = ""  # why it was skipped
    took: timedelta | None = None  # null until it ended


@dataclass(frozen=True, slots=True)
class CronPicture:
    """A cron or interval with what comes and what was."""

    record: CronRecord
    words: str  # the schedule in plain English
    schedule_text: str  # the schedule as it was declared
    next_runs: tuple[datetime, ...]  # the next ten; empty while it is paused or dormant
    is_dormant: bool  # stored, and not declared by any cell yet
    strip: tuple[CronRun, ...]  # the last sixty, oldest first


@dataclass(frozen=True, slots=True)
class PoolSample:
    """How full a pool was at one moment."""

    at: datetime
    in_use: int
    queued: int
    limit: int


@dataclass(frozen=True, slots=True)
class PoolPicture:
    """A pool, or the slots that actions in no pool share."""

    name: str  # empty for the actions in no pool
    is_plain: bool  # whether it stands for the actions in no pool
    is_declared: bool
    limit: int
    declared: int
    in_use: int  # slots; a straggler's included
    queued: int  # due, and waits for a slot
    later: int  # waits for its time or for a retry
    oldest_due_at: datetime | None  # null where nothing is due
    stragglers: tuple[JobId, ...]
    history: tuple[PoolSample, ...]  # oldest first
    runs: tuple[PoolRun, ...]  # oldest first


@dataclass(frozen=True, slots=True)
class NextRun:
    """One coming run of a cron."""

    cron: str
    at: datetime
    words: str


@dataclass(frozen=True, slots=True)
class Overview:
    """The last day in a few numbers."""

    succeeded: int = 0
    failed: int = 0
    canceled: int = 0
    throughput: tuple[Bucket, ...] = ()
    bucket: timedelta = timedelta(minutes=1)
    failures: tuple[FailureGroup, ...] = ()
    next_runs: tuple[NextRun, ...] = ()

    @property
    def success_rate(self) -> float | None:
        """The share of those that succeeded or failed; None without any."""
        ended = self.succeeded + self.failed
        return self.succeeded / ended if ended else None


@dataclass(frozen=True, slots=True)
class Health:
    """How the engine is."""

    is_running: bool = False
    problem: str = ""  # why the picture is not of now; empty where it is
    trouble: str = ""  # why nothing can be written at the moment; empty where all is well
    database: str = ""
    lateness_p50: timedelta | None = None
    lateness_p99: timedelta | None = None
    loop_lag_p99: timedelta | None = None
    slots_in_use: int = 0
    slots: int = 0


@dataclass(frozen=True, slots=True)
class Progress:
    """What a running action told of itself last."""

    job: JobId
    progress: str  # JSON; empty where it told none
    output: str


@dataclass(frozen=True, slots=True)
class Picture:
    """All of it."""

    version: int = 0  # of the last commit in it
    now: datetime = BEFORE_ALL
    is_virtual: bool = False
    counts: Counts = field(default_factory=Counts)
    jobs: tuple[JobRecord, ...] = ()
    crons: tuple[CronPicture, ...] = ()
    pools: tuple[PoolPicture, ...] = ()
    log: tuple[LogRow, ...] = ()
    overview: Overview = field(default_factory=Overview)
    health: Health = field(default_factory=Health)
    progress: tuple[Progress, ...] = ()
    functions: frozenset[str] = frozenset()  # the registered ones


@dataclass(frozen=True, slots=True)
class JobDetails:
    """One job with everything around it."""

    job: JobRecord
    executions: tuple[LogRow, ...]  # one for each attempt, oldest first
    parent: JobRecord | None
    completion: JobRecord | None
    children: tuple[JobRecord, ...]
    usual: tuple[timedelta, ...]  # how long runs of the function took that succeeded, newest first
    why: str  # why it has not run; empty unless it is pending
