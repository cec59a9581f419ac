"""Stored crons in step with the declared ones, and what is done to a cron by hand.

All of it happens inside a transaction and returns nothing that the database does not hold.
"""

from dataclasses import replace
from datetime import datetime

from rxferrix_lab.domain.cron_record import CronRecord, DeclaredCron
from rxferrix_lab.domain.job import JobId, JobRecord, Trigger
from rxferrix_lab.domain.lifecycle import Cancel
from rxferrix_lab.engine.endings import settle
from rxferrix_lab.engine.program import Program
from rxferrix_lab.errors import CronBusyError, UnknownCronError
from rxferrix_lab.storage.transaction import Transaction


def reconcile(transaction: Transaction, program: Program, now: datetime) -> None:
    """Bring the stored crons in step with the declared ones (contract 5.8 and 5.9)."""
    stored = transaction.crons()
    for declared in program.crons.values():
        kept = _declared_again(stored.get(declared.name), declared, now)
        if kept != stored.get(declared.name):
            transaction.save_cron(declared.name, kept)
    if program.is_interactive:
        return  # a cell that declares it may still come
    for name in stored.keys() - program.crons.keys():
        remove(transaction, program, name, now)


def _declared_again(stored: CronRecord | None, declared: DeclaredCron, now: datetime) -> CronRecord:
    if stored is None:
        fresh = declared.record(now, None)
        first = now if declared.kind == "interval" else fresh.schedule().next_instant(now)
        return replace(fresh, next_run_at=first)
    if stored.runs_like(declared):
        return replace(stored, function=declared.function, args=declared.args)
    changed = replace(
        declared.record(now, None),
        last_run_at=stored.last_run_at,
        last_job=stored.last_job,
        runs=stored.runs,
        skipped=stored.skipped,
        missed=stored.missed,
        paused=stored.paused,
    )
    return replace(changed, next_run_at=changed.schedule().next_instant(now))


def remove(transaction: Transaction, program: Program, name: str, now: datetime) -> None:
    """Take a cron out with its pending job; its history stays.

    Raises:
        UnknownCronError: if there is none.
    """
    _stored(transaction, name)
    for job in transaction.jobs_where(cron=name, state="pending"):
        settle(transaction, program, job, Cancel(), now)
    transaction.save_cron(name, None)


def run_now(transaction: Transaction, program: Program, name: str, now: datetime) -> JobId:
    """Make a job of the cron at once, without moving its next run (contract 5.10).

    Raises:
        UnknownCronError: if there is no such cron.
        CronBusyError: if its previous run has not ended.
    """
    cron = _stored(transaction, name)
    busy = previous_run(transaction, cron)
    if busy is not None:
        raise CronBusyError(name, busy.id)
    return enqueue(transaction, program, cron, now, "manual", now)


def pause(transaction: Transaction, name: str) -> None:
    """Let the cron make no jobs until it is resumed."""
    transaction.save_cron(name, replace(_stored(transaction, name), paused=True))


def resume(transaction: Transaction, name: str, now: datetime) -> None:
    """Go on from now: a paused cron misses nothing."""
    cron = _stored(transaction, name)
    if cron.paused:
        following = cron.schedule().next_instant(now)
        transaction.save_cron(name, replace(cron, paused=False, next_run_at=following))


def previous_run(transaction: Transaction, cron: CronRecord) -> JobRecord | None:
    """The cron's latest job, where it has not ended."""
    job = transaction.job(cron.last_job) if cron.last_job is not None else None
    return job if job is not None and not job.is_finished else None


def enqueue(  # what a cron's job is made of
    transaction: Transaction,
    program: Program,
    cron: CronRecord,
    occurrence: datetime,
    trigger: Trigger,
    now: datetime,
    missed: int = 0,
) -> JobId:
    """Make the job of an occurrence, and count it on the cron."""
    is_action = program.action(cron.function) is not None
    job = JobRecord(
        id=transaction.draw_job_id(),
        function=cron.function,
        kind="action" if is_action else "mutation",
        args=cron.args,
        state="pending",
        trigger=trigger,
        scheduled_for=occurrence,
        due_at=now,
        created_at=now,
        cron=cron.name,
        missed=missed,
    )
    transaction.add_job(job)
    counted = replace(cron, last_run_at=now, last_job=job.id, runs=cron.runs + 1)
    transaction.save_cron(cron.name, counted)
    return job.id


def _stored(transaction: Transaction, name: str) -> CronRecord:
    crons = transaction.crons()
    if name not in crons:
        raise UnknownCronError(name, sorted(crons))
    return crons[name]
