"""Runs actions: begins what was claimed, asks it to stop, records how it ended.

The verdict is the stored state and never the cancel scope, since a body may swallow a cancellation.
The only module that catches everything, because an action may raise anything.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, Protocol, cast

import anyio
from anyio.abc import TaskGroup

from rxferrix_lab.domain.backoff import Backoff
from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.domain.lifecycle import Event, Fail, Interrupt, Succeed
from rxferrix_lab.domain.log_entry import LogEntry, Outcome
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.engine.attempt import Attempt, StopReason
from rxferrix_lab.engine.clock import Clock
from rxferrix_lab.engine.endings import interrupted, settle
from rxferrix_lab.engine.failure import error_of
from rxferrix_lab.engine.program import Execution, Prepared, Program, RunnableAction
from rxferrix_lab.engine.writer import Request
from rxferrix_lab.storage.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim that committed: what to run."""

    job: JobRecord
    action: RunnableAction
    arguments: Prepared


class Submit(Protocol):
    """The way to the writer."""

    def __call__(self, *requests: Request) -> None:
        """Hand in requests."""
        ...


class Attempts:
    """Every attempt that is alive. Owned by the engine's loop."""

    def __init__(
        self, program: Program, clock: Clock, submit: Submit, grace: timedelta, seed: int
    ) -> None:
        self._program = program
        self._clock = clock
        self._submit = submit
        self._grace = grace
        self._seed = seed
        self._of_job: dict[JobId, Attempt] = {}
        self._tasks: TaskGroup | None = None
        self.alive: dict[Attempt, Callable[[], None]] = {}  # with what gives the slot back
        self.touched: set[Attempt] = set()  # may run on without the clock; read by the stepper

    def use(self, tasks: TaskGroup | None) -> None:
        """Run attempts in this task group from now on."""
        self._tasks = tasks

    def start(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run a caller's action as a task beside the attempts."""
        if self._tasks is not None:
            self._tasks.start_soon(work, name=name)

    def running(self) -> list[Attempt]:
        """The attempts whose outcome is not recorded."""
        return [attempt for attempt in self.alive if not attempt.has_ended]

    def stragglers(self) -> list[Attempt]:
        """Threads that outlived their grace, and hold their slots."""
        return [attempt for attempt in self.alive if attempt.is_straggler]

    def of_job(self, job: JobId) -> Attempt | None:
        """The attempt that runs a job."""
        return self._of_job.get(job)

    # --- beginning ------------------------------------------------------------------------------
    def begin(self, claimed: Claimed, free_slot: Callable[[], None]) -> None:
        """Run a claimed job; `free_slot` is called once it no longer runs."""
        job = claimed.job
        seed = f"{self._seed}:{job.id}:{job.attempt}"
        execution = Execution(
            job.function, self._clock.now(), seed, "scheduler", job=job.id, attempt=job.attempt
        )
        attempt = self.new(execution, claimed.action, job)
        self.alive[attempt] = free_slot
        self._of_job[job.id] = attempt
        if self._tasks is not None:
            self._tasks.start_soon(self._run, attempt, claimed, name=f"job {job.id} {job.function}")

    def new(self, execution: Execution, action: RunnableAction, job: JobRecord | None) -> Attempt:
        """An attempt that has not begun."""
        grace = action.grace if action.grace is not None else self._grace
        attempt = Attempt(execution, job, grace, action.in_thread)
        self.touched.add(attempt)
        return attempt

    async def run_called(
        self, attempt: Attempt, action: RunnableAction, arguments: Prepared
    ) -> str:
        """Run an action for a caller, in the caller's task.

        Log it, and return its result as JSON.
        """
        attempt.task = anyio.get_current_task().id
        self.alive[attempt] = _nothing
        try:
            event = await self._event_of(attempt, action, arguments, raising=True)
        except BaseException as error:
            self._log_call(attempt, error_of(error))
            raise
        finally:
            self._leave(attempt)
        self._log_call(attempt, None)
        return event.result if isinstance(event, Succeed) else "null"

    async def run_inner(
        self, outer: Attempt, function: str, action: RunnableAction, arguments: Prepared
    ) -> str:
        """Run an action inside an attempt, which stays the one that is asked to stop; log it."""
        began = self._clock.now()
        inner = Attempt(
            replace(outer.execution, function=function, now=began),
            None,
            outer.grace,
            action.in_thread,
        )
        try:
            result = await action.run(outer, arguments)
        except BaseException as error:
            self._log_call(inner, error_of(error))
            raise
        self._log_call(inner, None)
        return result

    async def _run(self, attempt: Attempt, claimed: Claimed) -> None:
        attempt.task = anyio.get_current_task().id
        event = await self._event_of(attempt, claimed.action, claimed.arguments)
        attempt.task = None
        self._submit(self._outcome_request(attempt, event))

    async def _event_of(
        self,
        attempt: Attempt,
        action: RunnableAction,
        arguments: Prepared,
        *,
        raising: bool = False,
    ) -> Event:
        """Run the body; what it returned or raised, as an event."""
        event: Event = Interrupt(interrupted("it was aborted when its grace was over"))
        try:
            with attempt.scope:
                if action.timeout is not None:
                    async with anyio.create_task_group() as watch:
                        watch.start_soon(self._time_out, attempt, action.timeout, name="timeout")
                        event = Succeed(await action.run(attempt, arguments))
                        watch.cancel_scope.cancel()
                else:
                    event = Succeed(await action.run(attempt, arguments))
        except BaseException as error:
            if raising or _is_cancelled_from_outside(error):
                raise
            event = Fail(error_of(_first_leaf(error)))
        return self._verdict(attempt, event, action)

    def _verdict(self, attempt: Attempt, event: Event, action: RunnableAction) -> Event:
        if attempt.reason == "timeout":
            limit = action.timeout or timedelta(0)
            message = f"the action ran longer than its timeout of {limit}"
            return Fail(JobError("timeout", "TimeoutError", message, ""))
        if attempt.reason == "stop" and (attempt.was_told or attempt.was_aborted):
            return Interrupt(interrupted("the app was stopped while it ran"))
        return event

    # --- ending ---------------------------------------------------------------------------------
    def _outcome_request(self, attempt: Attempt, event: Event) -> Request:
        job = attempt.execution.job

        def body(transaction: Transaction) -> None:
            stored = transaction.job(job) if job is not None else None
            if stored is None or stored.attempt != attempt.execution.attempt:
                return
            now = self._clock.now()
            after = settle(
                transaction, self._program, stored, self._with_retry(stored, event, now), now
            )
            transaction.log(self._entry(attempt, after, event, now))

        return Request(
            body,
            landed=lambda _: self._leave(attempt),
            jobs=(job,) if job is not None else (),
            persists=True,
        )

    def _with_retry(self, job: JobRecord, event: Event, now: datetime) -> Event:
        """Add when the next attempt may begin, where one is left."""
        if not isinstance(event, Fail) or job.attempt >= job.max_attempts:
            return event
        pool = self._program.pools.get(job.pool) if job.pool is not None else None
        backoff = pool.backoff if pool is not None else Backoff()
        rng = Random(f"{self._seed}:{job.id}:{job.attempt + 1}:backoff")  # not a secret
        return Fail(event.error, now + backoff.delay_before(job.attempt + 1, rng))

    def _entry(
        self, attempt: Attempt, after: JobRecord | None, event: Event, now: datetime
    ) -> LogEntry:
        execution = attempt.execution
        outcome: Outcome = "succeeded" if isinstance(event, Succeed) else "failed"
        if after is not None and after.state == "canceled":
            outcome = "canceled"
        error = event.error if isinstance(event, Fail | Interrupt) else None
        return LogEntry(
            function=execution.function,
            kind="action",
            caller=execution.caller,
            started_at=execution.now,
            finished_at=now,
            outcome=outcome,
            job=execution.job,
            identity=execution.identity.subject if execution.identity else None,
            attempt=execution.attempt,
            error=error if outcome == "failed" else None,
            output="".join(attempt.output) or None,
            progress=attempt.progress,
        )

    def _log_call(self, attempt: Attempt, error: JobError | None) -> None:
        event: Event = Fail(error) if error is not None else Succeed("null")
        entry = self._entry(attempt, None, event, self._clock.now())
        self._submit(Request(lambda transaction: transaction.log(entry), persists=True))

    def _leave(self, attempt: Attempt) -> None:
        """The outcome is recorded; the slot is free unless a thread still runs."""
        attempt.has_ended = True
        self.touched.discard(attempt)
        if attempt.job is not None and self._of_job.get(attempt.job.id) is attempt:
            del self._of_job[attempt.job.id]
        if not attempt.thread_is_alive:
            self._free(attempt)

    def thread_ended(self, attempt: Attempt) -> None:
        """The thread of a plain `def` action has ended."""
        attempt.thread_is_alive = False
        if attempt.has_ended:
            self._free(attempt)

    def _free(self, attempt: Attempt) -> None:
        free_slot = self.alive.pop(attempt, None)
        if free_slot is not None:
            free_slot()

    # --- stopping -------------------------------------------------------------------------------
    def ask_to_stop(self, attempt: Attempt, reason: StopReason) -> None:
        """Ask an attempt to stop, and abort it when its grace is over."""
        grace_until = self._clock.now() + attempt.grace
        if attempt.ask(reason, grace_until) and self._tasks is not None:
            self.touched.add(attempt)
            self._tasks.start_soon(
                self._enforce, attempt, grace_until, name=f"grace of {attempt.execution.function}"
            )

    async def _enforce(self, attempt: Attempt, grace_until: datetime) -> None:
        await self._clock.sleep_until(grace_until)
        if attempt in self.alive and not attempt.has_ended:
            self.touched.add(attempt)
            attempt.abort()

    async def _time_out(self, attempt: Attempt, limit: timedelta) -> None:
        await self._clock.sleep_until(attempt.execution.now + limit)
        self.ask_to_stop(attempt, "timeout")


def _nothing() -> None:
    """What a called action gives back: it has no slot."""


def _is_cancelled_from_outside(error: BaseException) -> bool:
    """Whether the whole engine is being cancelled, which no attempt may swallow."""
    is_cancellation = isinstance(error, anyio.get_cancelled_exc_class())
    return is_cancellation and anyio.current_effective_deadline() == float("-inf")


def _first_leaf(error: BaseException) -> BaseException:
    """The exception itself, out of a group that our own timeout wrapped around a single one."""
    if isinstance(error, BaseExceptionGroup):
        group = cast("BaseExceptionGroup[BaseException]", error)
        if len(group.exceptions) == 1:
            return _first_leaf(group.exceptions[0])
        return group
    return error
