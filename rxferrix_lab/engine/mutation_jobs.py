"""Mutations as requests to the writer: those of jobs, and those that somebody calls.

A job's completion commits in the transaction of the mutation's own writes, hence exactly once.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.domain.lifecycle import Fail, Succeed
from rxferrix_lab.domain.log_entry import LogEntry, Outcome
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.engine.clock import Clock
from rxferrix_lab.engine.endings import settle, unknown_function
from rxferrix_lab.engine.failure import arguments_error, error_of
from rxferrix_lab.engine.program import Execution, Prepared, Program, RunnableMutation
from rxferrix_lab.engine.writer import Answer, Request
from rxferrix_lab.errors import ArgumentsError
from rxferrix_lab.storage.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Deferred:
    """The job's function is not registered yet; it waits, pending."""

    job: JobRecord


@dataclass(frozen=True, slots=True)
class Early:
    """The job is not due: the clock was set back, or a retry moved it."""

    job: JobRecord


@dataclass(frozen=True, slots=True)
class NotRun:
    """Nothing was run: the job had ended before its turn, or could not be called."""


class Patience(Protocol):
    """How long a job waits for a function that a restarted kernel may still register."""

    def waits_for(self, job: JobRecord, now: datetime) -> bool:
        """Whether the job should be left pending for now."""
        ...


class MutationJobs:
    """Makes the requests."""

    def __init__(self, program: Program, clock: Clock, seed: int, patience: Patience) -> None:
        self._program = program
        self._clock = clock
        self._seed = seed
        self._patience = patience

    def of_job(self, job: JobId, landed: Callable[[Answer], None]) -> Request:
        """The request that runs a due job to its end."""

        def body(transaction: Transaction) -> Deferred | Early | NotRun | None:
            return self._run_job(transaction, job)

        def failed(transaction: Transaction, error: BaseException) -> None:
            self._record_failure(transaction, job, error)

        return Request(body, failed=failed, landed=landed, jobs=(job,), persists=True)

    def of_call(
        self,
        mutation: RunnableMutation,
        execution: Execution,
        arguments: Prepared,
        done: Callable[[Answer], None],
    ) -> Request:
        """The request that runs a mutation for a caller.

        Its failure is logged, then raised there.
        """

        def body(transaction: Transaction) -> str:
            began = replace(execution, now=self._clock.now())
            result = mutation.run(transaction, began, arguments)
            transaction.log(self._entry(began, "succeeded"))
            return result

        def failed(transaction: Transaction, error: BaseException) -> None:
            began = replace(execution, now=self._clock.now())
            transaction.log(self._entry(began, "failed", error_of(error)))

        return Request(body, failed=failed, done=done)

    def _run_job(self, transaction: Transaction, job_id: JobId) -> Deferred | Early | NotRun | None:
        job = transaction.job(job_id)
        now = self._clock.now()
        if job is None or job.state != "pending":
            return NotRun()
        if job.due_at > now:
            return Early(job)
        mutation = self._program.mutation(job.function)
        if mutation is None:
            if self._patience.waits_for(job, now):
                return Deferred(job)
            settle(transaction, self._program, job, Fail(unknown_function(job.function)), now)
            return NotRun()
        try:
            arguments = mutation.prepare(job.args)
        except ArgumentsError as error:
            settle(transaction, self._program, job, Fail(arguments_error(error)), now)
            return NotRun()
        execution = self._execution(job, now)
        result = mutation.run(transaction, execution, arguments)
        settle(transaction, self._program, job, Succeed(result), now)
        transaction.log(self._entry(execution, "succeeded"))
        return None

    def _record_failure(
        self, transaction: Transaction, job_id: JobId, error: BaseException
    ) -> None:
        job = transaction.job(job_id)
        if job is None or job.state != "pending":
            return
        now = self._clock.now()
        failure = error_of(error)
        settle(transaction, self._program, job, Fail(failure), now)
        transaction.log(self._entry(self._execution(job, now), "failed", failure))

    def _execution(self, job: JobRecord, now: datetime) -> Execution:
        return Execution(job.function, now, f"{self._seed}:{job.id}:1", "scheduler", job=job.id)

    def _entry(
        self, execution: Execution, outcome: Outcome, error: JobError | None = None
    ) -> LogEntry:
        return LogEntry(
            function=execution.function,
            kind="mutation",
            caller=execution.caller,
            started_at=execution.now,
            finished_at=self._clock.now(),
            outcome=outcome,
            job=execution.job,
            identity=execution.identity.subject if execution.identity else None,
            attempt=execution.attempt,
            error=error,
        )
