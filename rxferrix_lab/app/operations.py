"""What operators do: cancel, run again, run a cron now, pause, resize.

Admins only, and each is logged.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from datetime import datetime, timedelta
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.domain.given import checked_text
from rxferrix_lab.domain.job import RERUNNABLE, JobId, JobRecord
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.domain.workpool import check_parallelism
from rxferrix_lab.engine import crons, pools
from rxferrix_lab.engine.cancellation import PoolCancellation, cancel_job, cancel_pool
from rxferrix_lab.engine.failure import error_of
from rxferrix_lab.engine.program import Identity, Program
from rxferrix_lab.errors import (
    ArgumentsError,
    BlockingCallError,
    NotRerunnableError,
    PermissionDeniedError,
    UnknownFunctionError,
    UnknownJobError,
    UnknownPoolError,
    VirtualTimeError,
)
from rxferrix_lab.storage.transaction import Transaction

T = TypeVar("T")
SYSTEM = "_system/scheduler:"


class Operations:
    """The operating verbs as one identity may use them. Each blocks until it has committed."""

    def __init__(self, runtime: Runtime, identity: Identity | None) -> None:
        self._runtime = runtime
        self._identity = identity

    def run_by_name(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
        """Run the verb that `_system/scheduler:…` names.

        Raises:
            UnknownFunctionError: if there is none.
            ArgumentsError: if the arguments do not fit it.
        """
        verb = self._by_name(name)
        try:
            bound = signature(verb).bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentsError(name, str(error)) from None
        return verb(*bound.args, **bound.kwargs)

    def _by_name(self, name: str) -> Callable[..., object]:
        verbs: dict[str, Callable[..., object]] = {
            "cancel": self.cancel,
            "rerun": self.rerun,
            "cancel_pool": self.cancel_pool,
            "run_cron_now": self.run_cron_now,
            "pause_cron": self.pause_cron,
            "resume_cron": self.resume_cron,
            "remove_cron": self.remove_cron,
            "resize_pool": self.resize_pool,
        }
        verb = verbs.get(name.removeprefix(SYSTEM))
        if verb is None:
            raise UnknownFunctionError(name, f"is not one of {', '.join(verbs)} of {SYSTEM}")
        return verb

    def permit(self, verb: str) -> None:
        """Refuse a viewer, and log that he tried.

        Raises:
            PermissionDeniedError: contract 5.10.
        """
        identity = self._identity
        if identity is None or identity.admin:
            return
        self._runtime.refuse_inside_mutation(verb)
        denied = PermissionDeniedError(identity.subject, verb)
        entry = replace(self._entry(verb, ""), outcome="failed", error=error_of(denied))
        self._runtime.engine.transact_soon(lambda tx: tx.log(entry)).result()
        raise denied

    def cancel(self, job: JobId) -> bool:
        """Cancel a job; True where this call stopped or is stopping it."""

        def body(tx: Transaction) -> bool:
            return cancel_job(tx, self._runtime, job, self._now())

        return self._transact("cancel", f"job {job}", body)

    def rerun(self, job: JobId) -> JobId:
        """Make a new job like one that failed or was canceled."""

        def body(tx: Transaction) -> JobId:
            return rerun(tx, self._runtime, job, self._now())

        return self._transact("rerun", f"job {job}", body)

    def cancel_jobs(self, jobs: Sequence[JobId]) -> int:
        """Cancel those of these jobs that have not ended; how many, in one transaction."""

        def body(tx: Transaction) -> int:
            tx.prefetch(jobs)
            known = [job for job in jobs if tx.job(job) is not None]
            return sum(cancel_job(tx, self._runtime, job, self._now()) for job in known)

        return self._transact("cancel", _many(jobs), body)

    def rerun_jobs(self, jobs: Sequence[JobId]) -> int:
        """Run those of these jobs again that failed or were canceled; how many, in one commit."""

        def body(tx: Transaction) -> int:
            tx.prefetch(jobs)
            found = [tx.job(job) for job in jobs]
            ended = [job for job in found if job and job.state in RERUNNABLE]
            pools = (None, *self._runtime.pools)
            again = [job.id for job in ended if job.pool in pools]
            for job in again:
                rerun(tx, self._runtime, job, self._now())
            return len(again)

        return self._transact("rerun", _many(jobs), body)

    def cancel_pool(self, name: str) -> PoolCancellation:
        """Cancel all that is queued or running in the pool at this moment."""

        def body(tx: Transaction) -> PoolCancellation:
            if checked_text(name, "a pool's name") not in tx.pools():
                raise UnknownPoolError(name, sorted(tx.pools()))
            return cancel_pool(tx, self._runtime, name, self._now())

        return self._transact("cancel_pool", f"pool {name}", body)

    def run_cron_now(self, name: str) -> JobId:
        """Run a cron at once, without moving its next run."""

        def body(tx: Transaction) -> JobId:
            return crons.run_now(tx, self._runtime, name, self._now())

        return self._change("run_cron_now", f"cron {name}", body)

    def pause_cron(self, name: str) -> None:
        """Let a cron make no jobs until it is resumed."""
        self._change("pause_cron", f"cron {name}", lambda tx: crons.pause(tx, name))

    def resume_cron(self, name: str) -> None:
        """Let a paused cron go on from now."""
        self._change("resume_cron", f"cron {name}", lambda tx: crons.resume(tx, name, self._now()))

    def remove_cron(self, name: str) -> None:
        """Take a cron out with its pending job."""

        def body(tx: Transaction) -> None:
            crons.remove(tx, self._runtime, name, self._now())
            self._runtime.leave_out(name)

        try:
            self._change("remove_cron", f"cron {name}", body)
        except PermissionDeniedError:
            raise
        except Exception:  # whatever it was, the cron is still there
            self._runtime.take_in(name)
            raise

    def resize_pool(self, name: str, max_parallelism: int) -> None:
        """Give a pool another number of slots."""
        check_parallelism(max_parallelism)
        self._change(
            "resize_pool",
            f"pool {name} to {max_parallelism} slots",
            lambda tx: pools.resize(tx, name, max_parallelism),
        )

    def backup(self, path: str | Path) -> None:
        """Copy a consistent state of the database into a new file."""
        self.permit("backup")
        self._runtime.refuse_inside_mutation("backup")
        self._runtime.engine.on_writer(lambda store: store.backup(path)).result()
        entry = self._entry("backup", f"to {path}")
        self._runtime.engine.transact_soon(lambda tx: tx.log(entry)).result()

    def move_time(self, to: datetime | timedelta) -> list[JobId]:
        """Move virtual time, stopping wherever something happens."""
        self.permit("move time")
        stepped, loop = self._runtime.stepped, self._runtime.engine.loop
        if stepped is None:
            raise VirtualTimeError(
                "only virtual time can be moved: make the app with clock=VirtualClock(…)"
            )
        if loop is not None and loop.is_current():
            raise BlockingCallError("advance")
        return stepped.move(to).result()

    def _now(self) -> datetime:
        return self._runtime.engine.clock.now()

    def _transact(self, verb: str, what: str, body: Callable[[Transaction], T]) -> T:
        return self._logged(verb, what, body, self._runtime.engine.transact_soon)

    def _change(self, verb: str, what: str, body: Callable[[Transaction], T]) -> T:
        return self._logged(verb, what, body, self._runtime.engine.operate)

    def _logged(
        self,
        verb: str,
        what: str,
        body: Callable[[Transaction], T],
        hand_in: Callable[[Callable[[Transaction], T]], "Future[T]"],
    ) -> T:
        self.permit(verb)
        self._runtime.refuse_inside_mutation(verb)

        def whole(transaction: Transaction) -> T:
            value = body(transaction)
            transaction.log(self._entry(verb, what))
            return value

        return hand_in(whole).result()

    def _entry(self, verb: str, what: str) -> LogEntry:
        now = self._now()
        identity = self._identity
        return LogEntry(
            function=SYSTEM + verb,
            kind=None,
            caller="program" if identity is None else "operator",
            started_at=now,
            finished_at=now,
            outcome="succeeded",
            identity=identity.subject if identity is not None else None,
            detail=f"{verb}: {what}" if what else verb,
        )


def _many(jobs: Sequence[JobId]) -> str:
    """The jobs for the log: each of a few, the number of many."""
    shown = ", ".join(str(job) for job in jobs[:20])
    return f"{len(jobs)} jobs: {shown}" + (", …" if len(jobs) > 20 else "")


def rerun(transaction: Transaction, program: Program, job: JobId, now: datetime) -> JobId:
    """Make a new job with the function, arguments, pool, retries and completion of an ended one.

    Raises:
        UnknownJobError: if there is no such job.
        NotRerunnableError: unless it failed or was canceled.
        UnknownPoolError: if its pool is no longer declared.
    """
    old = transaction.job(job)
    if old is None:
        raise UnknownJobError(job)
    if old.state not in RERUNNABLE:
        raise NotRerunnableError(job, old.state)
    if old.pool is not None and old.pool not in program.pools:
        raise UnknownPoolError(old.pool, sorted(program.pools))
    again = JobRecord(
        id=transaction.draw_job_id(),
        function=old.function,
        kind=old.kind,
        args=old.args,
        state="pending",
        trigger="manual",
        scheduled_for=now,
        due_at=now,
        created_at=now,
        max_attempts=old.max_attempts,
        pool=old.pool,
        parent=old.id,
        on_complete=old.on_complete,
        on_complete_names=old.on_complete_names,
        on_complete_context=old.on_complete_context,
    )
    transaction.add_job(again)
    return again.id
