"""The only place where a job changes state.

`apply` is total over state and event: what an event does not concern comes back as it was (the same
object), so a stale completion or a second cancellation can do no harm. No clock, no I/O.
"""

from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter
from typing import Any, assert_never

from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.domain.outcome import JobError


@dataclass(frozen=True, slots=True)
class Claim:
    """An attempt of an action begins. Mutations are never claimed: they end in the same commit."""


@dataclass(frozen=True, slots=True)
class Succeed:
    """The function returned."""

    result: str  # JSON


@dataclass(frozen=True, slots=True)
class Fail:
    """The function raised, or could not be called."""

    error: JobError
    retry_at: datetime | None = None  # null: no further attempt


@dataclass(frozen=True, slots=True)
class Cancel:
    """Somebody asks the job to stop."""


@dataclass(frozen=True, slots=True)
class Interrupt:
    """The process that ran the attempt stopped or was lost."""

    error: JobError


Event = Claim | Succeed | Fail | Cancel | Interrupt


def apply(job: JobRecord, event: Event, now: datetime) -> JobRecord:
    """The job after `event` at `now`; the same object where the event does not concern it.

    Contract 3: a mutation goes from pending to its end; an action through running. After a
        cancellation request whatever the attempt says, the job ends canceled.
    """
    match job.state:
        case "pending":
            return _from_pending(job, event, now)
        case "running":
            return _from_running(job, event, now)
        case "canceling":
            return _from_canceling(job, event, now)
        case "succeeded" | "failed" | "canceled":
            return job
        case _:
            assert_never(job.state)


def _from_pending(job: JobRecord, event: Event, now: datetime) -> JobRecord:
    match event:
        case Claim():
            return _claimed(job, now)
        case Succeed(result):
            return _mutation_ended(job, result, now)
        case Fail(error):
            return _failed_unclaimed(job, error, now)
        case Cancel():
            return _replace(
                job, state="canceled", cancel_requested_at=now, finished_at=now, error=None
            )
        case Interrupt():
            return job
        case _:
            assert_never(event)


def _claimed(job: JobRecord, now: datetime) -> JobRecord:
    if job.kind == "mutation":
        return job
    return _replace(job, state="running", attempt=job.attempt + 1, started_at=now, error=None)


def _mutation_ended(job: JobRecord, result: str, now: datetime) -> JobRecord:
    if job.kind == "action":
        return job
    return _replace(
        job, state="succeeded", attempt=1, started_at=now, finished_at=now, result=result
    )


def _failed_unclaimed(job: JobRecord, error: JobError, now: datetime) -> JobRecord:
    """A mutation raised, or the function cannot be called at all (which begins no attempt)."""
    if error.kind in ("unknown function", "arguments"):
        return _replace(job, state="failed", finished_at=now, error=error)
    if job.kind == "action":
        return job
    return _replace(job, state="failed", attempt=1, started_at=now, finished_at=now, error=error)


def _from_running(job: JobRecord, event: Event, now: datetime) -> JobRecord:
    match event:
        case Claim():
            return job
        case Succeed(result):
            return _replace(job, state="succeeded", finished_at=now, result=result)
        case Fail(error, retry_at):
            if retry_at is not None and job.attempt < job.max_attempts:
                return _replace(job, state="pending", due_at=retry_at, error=error)
            return _replace(job, state="failed", finished_at=now, error=error)
        case Cancel():
            return _replace(job, state="canceling", cancel_requested_at=now)
        case Interrupt(error):
            return _replace(job, state="failed", finished_at=now, error=error)
        case _:
            assert_never(event)


def _from_canceling(job: JobRecord, event: Event, now: datetime) -> JobRecord:
    match event:
        case Claim() | Cancel():
            return job
        case Succeed() | Fail() | Interrupt():
            return _replace(job, state="canceled", finished_at=now)
        case _:
            assert_never(event)


_NAMES = tuple(field.name for field in fields(JobRecord))
_PLACES = {name: at for at, name in enumerate(_NAMES)}
_values = attrgetter(*_NAMES)


def _replace(job: JobRecord, **changes: Any) -> JobRecord:  # noqa: ANN401  # of each field's type
    """The job with some fields changed.

    `dataclasses.replace` takes three times as long, and every job that ends comes through here.
    """
    values: list[Any] = list(_values(job))
    for name, value in changes.items():
        values[_PLACES[name]] = value
    return JobRecord(*values)
