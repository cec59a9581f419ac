"""Stored crons in step with the declared ones, and what is done to a cron by hand.

All of it happens inside a transaction and returns nothing that the database does not hold.
"""

from dataclasses import replace
from datetime import datetime

from rxferrix_lab.domain.cron_record import CronRecord, DeclaredCron
from rxferrix_lab.domain.given import checked_text
from rxferrix_lab.domain.job import JobId, JobRecord, Trigger
from rxferrix_lab.domain.lifecycle import Cancel
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.engine.endings import settle
from rxferrix_lab.engine.program import Program
from rxferrix_lab.errors import CronBusyError, RxFerrixError, UnknownCronError
from rxferrix_lab.storage.transaction import Transaction


def reconcile(transaction: Transaction, program: Program, now: datetime) -> None:
    """Bring the stored crons in step with the declared ones (contract 5.8 and 5.9)."""
    stored, declared = transaction.crons(), dict(program.crons)
    for name, cron in declared.items():
        kept = _in_step(transaction, program, stored.get(name), cron, now)
        if kept != stored.get(name):
            transaction.save_cron(name, kept)
    if program.is_interactive:
        return  # a cell that declares it may still come
    for name in stored.keys() - declared.keys():
        remove(transaction, program, name, now)


def _in_step(
    transaction: Transaction,
    program: Program,
    stored: CronRecord | None,
    declared: DeclaredCron,
    now: datetime,
) -> CronRecord:
    if stored is None:
        return _first(transaction, declared, now)
    try:
        stored.schedule()
    except RxFerrixError as error:
        return repaired(transaction, program, stored, declared, error, now)
    if not stored.runs_like(declared):
        return _with_schedule_of(declared, stored, now)
    kept = replace(stored, function=declared.function, args=declared.args)
    if kept.next_run_at is not None and kept.names(kept.next_run_at):
        return kept
    # The zone has other rules than when the next run was computed.
    return replace(kept, next_run_at=kept.following(kept.seen_until))


def _first(transaction: Transaction, declared: DeclaredCron, now: datetime) -> CronRecord:
    """The row of a cron that is not stored.

    A run of an earlier one of its name may go on; it counts as the previous one.
    """
    fresh = declared.record(now, None)
    unfinished = transaction.jobs_where(cron=declared.name)
    return replace(
        fresh,
        next_run_at=now if declared.kind == "interval" else fresh.following(now),
        last_job=unfinished[-1].id if unfinished else None,
    )


def _with_schedule_of(declared: DeclaredCron, stored: CronRecord, now: datetime) -> CronRecord:
    """The row with the declared schedule, whose next run is computed from now."""
    changed = replace(
        declared.record(now, None),
        last_run_at=stored.last_run_at,
        last_job=stored.last_job,
        runs=stored.runs,
        skipped=stored.skipped,
        missed=stored.missed,
        paused=stored.paused,
    )
    return changed.going_on_from(now)


def repaired(
    transaction: Transaction,
    program: Program,
    stored: CronRecord,
    declared: DeclaredCron,
    error: RxFerrixError,
    now: datetime,
) -> CronRecord:
    """The row of a cron whose stored schedule cannot be read, as declared; the log says so."""
    detail = (
        f"{stored.name}: its stored schedule cannot be read ({error}); it goes on as it is "
        "declared, and the next run is computed from now"
    )
    transaction.log(notice(program, declared, detail, now))
    return _with_schedule_of(declared, stored, now)


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
    job, counted = enqueue(transaction, program, cron, now, "manual", now)
    transaction.save_cron(name, counted)
    return job


def pause(transaction: Transaction, name: str) -> None:
    """Let the cron make no jobs until it is resumed."""
    transaction.save_cron(name, replace(_stored(transaction, name), paused=True))


def resume(transaction: Transaction, name: str, now: datetime) -> None:
    """Go on from now: a paused cron misses nothing."""
    cron = _stored(transaction, name)
    if cron.paused:
        transaction.save_cron(name, replace(cron, paused=False).going_on_from(now))


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
) -> tuple[JobId, CronRecord]:
    """Make the job of an occurrence; returns it and the cron's row with it counted."""
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
    return job.id, replace(cron, last_run_at=now, last_job=job.id, runs=cron.runs + 1)


def notice(
    program: Program, cron: CronRecord | DeclaredCron, detail: str, now: datetime
) -> LogEntry:
    """A row of the execution log that says why a cron did not run."""
    is_action = program.action(cron.function) is not None
    return LogEntry(
        function=cron.function,
        kind="action" if is_action else "mutation",
        caller="scheduler",
        started_at=now,
        finished_at=now,
        outcome="skipped",
        attempt=0,
        detail=detail,
    )


def _stored(transaction: Transaction, name: str) -> CronRecord:
    crons = transaction.crons()
    if checked_text(name, "a cron's name") not in crons:
        raise UnknownCronError(name, sorted(crons))
    return crons[name]
