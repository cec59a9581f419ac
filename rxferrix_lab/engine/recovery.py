"""What a start finds, put in order in one transaction before any work is taken.

What was running is failed and not tried again (contract 3.3); tables, pools and crons are brought
in step with the declared ones. Jobs found pending are left as they are: they run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.domain.lifecycle import Interrupt
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.domain.workpool import PoolRecord
from rxferrix_lab.engine import crons, pools
from rxferrix_lab.engine.endings import interrupted, settle
from rxferrix_lab.engine.lanes import LaneKey
from rxferrix_lab.engine.program import Program
from rxferrix_lab.storage.transaction import Transaction

CRASHED = "the process that ran it ended before the action did"


@dataclass(frozen=True, slots=True)
class Recovered:
    """What the engine takes over."""

    at: datetime
    crons: Mapping[str, CronRecord]
    pools: Mapping[str, PoolRecord]
    lanes: frozenset[LaneKey]  # that have pending jobs
    oldest_end: datetime | None  # of what retention will delete first


def recover(transaction: Transaction, program: Program, now: datetime) -> None:
    """Put in order what the last run left behind."""
    create_tables(transaction, program)
    for state in ("running", "canceling"):
        for job in transaction.jobs_where(state=state):
            _interrupt(transaction, program, job, now)


def create_tables(transaction: Transaction, program: Program) -> None:
    """Make the declared tables that are not there."""
    for name, columns in program.tables.items():
        transaction.create_table(name, columns)


def reconcile(transaction: Transaction, program: Program, now: datetime) -> Recovered:
    """Bring pools and crons in step with the declared ones."""
    pools.reconcile(transaction, program)
    crons.reconcile(transaction, program, now)
    return Recovered(
        now,
        transaction.crons(),
        transaction.pools(),
        frozenset(transaction.pending_lanes()),
        transaction.oldest_end(),
    )


def _interrupt(transaction: Transaction, program: Program, job: JobRecord, now: datetime) -> None:
    error = interrupted(CRASHED)
    after = settle(transaction, program, job, Interrupt(error), now)
    is_canceled = after.state == "canceled"
    transaction.log(
        LogEntry(
            function=job.function,
            kind="action",
            caller="scheduler",
            started_at=job.started_at or now,
            finished_at=now,
            outcome="canceled" if is_canceled else "failed",
            job=job.id,
            attempt=job.attempt,
            error=None if is_canceled else error,
        )
    )
