"""Cancellation as part of a transaction. What runs learns of it once that has committed."""

from dataclasses import dataclass
from datetime import datetime

from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.lifecycle import Cancel
from rxferrix_lab.engine.endings import settle
from rxferrix_lab.engine.program import Program
from rxferrix_lab.errors import UnknownJobError
from rxferrix_lab.storage.transaction import Transaction


@dataclass(frozen=True)
class PoolCancellation:
    """How many jobs of a pool were canceled: waiting for a time, a retry or a slot, and running."""

    queued: int
    running: int


def cancel_job(transaction: Transaction, program: Program, job: JobId, now: datetime) -> bool:
    """Cancel a job; True where this call stopped or is stopping it (contract 2.5).

    Raises:
        UnknownJobError: if there is no such job.
    """
    found = transaction.job(job)
    if found is None:
        raise UnknownJobError(job)
    return settle(transaction, program, found, Cancel(), now) is not found


def cancel_pool(
    transaction: Transaction, program: Program, pool: str, now: datetime
) -> PoolCancellation:
    """Cancel all that is queued or running in the pool at this moment (contract 6.4)."""
    queued = running = 0
    for job in transaction.jobs_where(pool=pool):
        if settle(transaction, program, job, Cancel(), now) is job:
            continue
        if job.state == "pending":
            queued += 1
        else:
            running += 1
    return PoolCancellation(queued, running)
