"""What follows when something happens to a job, inside the transaction that records it.

Applies the event, and makes the `on_complete` job of one that ended: the same commit, so exactly
once.
"""

from dataclasses import replace
from datetime import datetime

from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.domain.lifecycle import Event, apply
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.engine.program import Program
from rxferrix_lab.storage.transaction import Transaction


def settle(
    transaction: Transaction, program: Program, job: JobRecord, event: Event, now: datetime
) -> JobRecord:
    """Save the job after the event, with its completion; the same object where nothing changed."""
    after = apply(job, event, now)
    if after is job:
        return job
    if after.is_finished and after.on_complete is not None:
        completion = _completion_of(transaction, program, after, now)
        transaction.add_job(completion)
        after = replace(after, completion=completion.id)
    transaction.save_job(after)
    return after


def _completion_of(
    transaction: Transaction, program: Program, job: JobRecord, now: datetime
) -> JobRecord:
    return JobRecord(
        id=transaction.draw_job_id(),
        function=job.on_complete or "",
        kind="mutation",
        args=program.completion_args(job),
        state="pending",
        trigger="on_complete",
        scheduled_for=now,
        due_at=now,
        created_at=now,
        parent=job.id,
    )


def unknown_function(name: str) -> JobError:
    """The error of a job whose function nobody registered."""
    return JobError(
        "unknown function",
        "UnknownFunctionError",
        f'no function "{name}" is registered in this app; register it and run the job again',
        "",
    )


def interrupted(why: str) -> JobError:
    """The error of an action that ended with its process."""
    return JobError("interrupted", "Interrupted", why, "")
