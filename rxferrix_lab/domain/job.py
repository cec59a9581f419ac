"""A job: a durable request to run one mutation or action with given arguments.

Holds what is stored of it and nothing that changes by itself. Never reads a clock, and never moves
a job to another state: only `lifecycle.apply` does.
"""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NewType

from rxferrix_lab.domain.outcome import JobError

JobId = NewType("JobId", int)
JobKind = Literal["mutation", "action"]
JobState = Literal["pending", "running", "canceling", "succeeded", "failed", "canceled"]
Trigger = Literal["user", "cron", "catch_up", "manual", "on_complete"]

UNFINISHED: frozenset[JobState] = frozenset({"pending", "running", "canceling"})
FINISHED: frozenset[JobState] = frozenset({"succeeded", "failed", "canceled"})
CANCELABLE: frozenset[JobState] = frozenset({"pending", "running"})
RERUNNABLE: frozenset[JobState] = frozenset({"failed", "canceled"})


@dataclass(frozen=True, slots=True)
class JobRecord:
    """One row of `_scheduled_jobs` as the scheduler keeps it: arguments and result are JSON text.

    The fields of `Job` have the same names and meaning here. `on_complete`, `on_complete_names`
    and `on_complete_context` are what the scheduler needs besides: the mutation to run when the
    job ends, the names of its three parameters, and its context as JSON.
    """

    id: JobId
    function: str
    kind: JobKind
    args: str
    state: JobState
    trigger: Trigger
    scheduled_for: datetime
    due_at: datetime
    created_at: datetime
    started_at: datetime | None = None
    finished_at: datetime | None = None
    cancel_requested_at: datetime | None = None
    attempt: int = 0
    max_attempts: int = 1
    pool: str | None = None
    cron: str | None = None
    missed: int = 0
    parent: JobId | None = None
    completion: JobId | None = None
    result: str | None = None
    error: JobError | None = None
    on_complete: str | None = None
    on_complete_names: str | None = None
    on_complete_context: str | None = None

    @property
    def is_finished(self) -> bool:
        """Whether the job has ended, in whatever way."""
        return self.state in FINISHED

    @property
    def is_waiting_for_retry(self) -> bool:
        """Whether an attempt failed and the next one has not begun."""
        return self.state == "pending" and self.attempt > 0


@dataclass(frozen=True)
class Job:
    """One row of `_scheduled_jobs`, with its JSON read. Every instant is aware and in UTC."""

    id: JobId
    function: str
    kind: JobKind
    args: dict[str, Any]  # by parameter name, in JSON's own types
    state: JobState
    trigger: Trigger
    scheduled_for: datetime  # the time asked for; for a cron, the occurrence
    due_at: datetime  # the time it may start; backoff moves it
    created_at: datetime
    started_at: datetime | None  # of the latest attempt; null before the first
    finished_at: datetime | None  # set iff the state is succeeded, failed or canceled
    cancel_requested_at: datetime | None  # set iff somebody asked to cancel it
    attempt: int  # attempts begun: 0 before the first, 1 while it runs and while it waits to retry
    max_attempts: int
    pool: str | None  # null for a job in no pool, and for every mutation
    cron: str | None  # the cron or interval that made it; null for all others
    missed: int  # occurrences that passed unseen, itself included; 0 but on a catch_up job
    parent: JobId | None  # the job that scheduled it; null when a call did
    completion: JobId | None  # the on_complete job, once there is one
    result: Any  # in JSON's own types; null unless succeeded
    error: JobError | None  # of the latest attempt; null unless failed or waiting for a retry


def job_of(record: JobRecord) -> Job:
    """The public view of a stored job."""
    return Job(
        id=record.id,
        function=record.function,
        kind=record.kind,
        args=json.loads(record.args),
        state=record.state,
        trigger=record.trigger,
        scheduled_for=record.scheduled_for,
        due_at=record.due_at,
        created_at=record.created_at,
        started_at=record.started_at,
        finished_at=record.finished_at,
        cancel_requested_at=record.cancel_requested_at,
        attempt=record.attempt,
        max_attempts=record.max_attempts,
        pool=record.pool,
        cron=record.cron,
        missed=record.missed,
        parent=record.parent,
        completion=record.completion,
        result=json.loads(record.result) if record.result is not None else None,
        error=record.error,
    )
