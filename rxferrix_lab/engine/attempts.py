"""Runs actions: begins what was claimed, asks it to stop, records how it ended.

The verdict is the stored state and never the cancel scope, since a body may swallow a cancellation.
Catches everything that an action raises, because it may raise anything.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any, Protocol

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
from rxferrix_lab.errors import NotRunningError
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
        self._unrecorded: set[Attempt] = set()
        self.alive: dict[Attempt, Callable[[], None]] = {}  # with what gives the slot back
        self.touched: set[Attempt] = set()  # may run on without the clock; read by the stepper

    def use(self, tasks: TaskGroup | None) -> None:
        """Run attempts in this task group from now on; without one, none has a grace any more."""
        self._tasks = tasks
        if tasks is None:
            for attempt in self.alive:
                attempt.abort()

    def start(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run a caller's action as a task beside the attempts."""
        if self._tasks is not None:
            self._tasks.start_soon(work, name=name)

    def running(self) -> list[Attempt]:
        """The attempts whose outcome is not recorded."""
        return list(self._unrecorded)

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
        execution = Execution(
            job.function,
            self._clock.now(),
            f"{self._seed}:{job.id}:{job.attempt}",
            "scheduler",
            job=job.id,
            attempt=job.attempt,
        )
        attempt = self.new(execution, claimed.action, job)
        self.alive[attempt] = free_slot
        self._unrecorded.add(attempt)
        self._of_job[job.id] = attempt
        if self._tasks is not None:
            self._tasks.start_soon(self._run, attempt, claimed, name=job.function)

    def new(self, execution: Execution, action: RunnableAction, job: JobRecord | None) -> Attempt:
        """An attempt that has not begun."""
        grace = action.grace if action.grace is not None else self._grace
        attempt = Attempt(execution, job, grace)
        self.touched.add(attempt)
        return attempt

    async def _run(self, attempt: Attempt, claimed: Claimed) -> None:
        event = await self._event_of(attempt, claimed.action, claimed.arguments)
        # In line before the claim that takes the slot: no commit shows more running than slots.
        self._submit(self._outcome_request(attempt, event))
        self._free_if_over(attempt)

    async def run_called(
        self, attempt: Attempt, action: RunnableAction, arguments: Prepared
    ) -> str:
        """Run an action for a caller, in the caller's task.

        Log it, and return its result as JSON.

        Raises:
            TimeoutError: if it ran longer than its timeout.
            NotRunningError: if it was told that the app stops, or aborted.
            Exception: whatever it raised.
        """
        self.alive[attempt] = _nothing
        self._unrecorded.add(attempt)
        event: Event = Interrupt(interrupted("its caller was cancelled"))
        try:
            event = await self._event_of(attempt, action, arguments)
        finally:
            self._free_if_over(attempt)
            self._leave(attempt)
            self._log_call(attempt, event)
        match event:
            case Succeed(result):
                return result
            case Fail(error) if error.kind == "timeout":
                raise TimeoutError(error.message) from attempt.raised
            case _:
                raise attempt.raised or NotRunningError("the app was stopped while it ran")

    async def run_inner(
        self, outer: Attempt, function: str, action: RunnableAction, arguments: Prepared
    ) -> str:
        """Run an action inside an attempt, which stays the one that is asked to stop; log it.

        Raises:
            TimeoutError: if it ran longer than its own timeout; it is cut off then.
            Exception: whatever it raised.
        """
        began = replace(outer.execution, function=function, now=self._clock.now())
        inner = Attempt(began, None, outer.grace)
        result: str | None = None
        try:
            with inner.scope:
                self._watch_time(inner, action, outer)
                result = await action.run(outer, arguments)
            if result is None:
                raise TimeoutError(_too_long(action))
        except BaseException as error:
            self._log_call(inner, Fail(error_of(error)))
            raise
        finally:
            inner.end_body()
        self._log_call(inner, Succeed(result))
        return result

    async def _event_of(
        self, attempt: Attempt, action: RunnableAction, arguments: Prepared
    ) -> Event:
        """Run the body to its end; what it returned or raised, as an event."""
        event: Event = Interrupt(interrupted("it was aborted when its grace was over"))
        attempt.task = anyio.get_current_task().id
        try:
            with attempt.scope:
                self._watch_time(attempt, action, attempt)
                event = Succeed(await action.run(attempt, arguments))
        except BaseException as error:
            if is_cancelled_from_outside(error):
                raise
            attempt.raised = error
            event = Fail(error_of(error))
        finally:
            attempt.end_body()
        return _verdict(attempt, event, action)

    def thread_ended(self, attempt: Attempt) -> None:
        """A thread of the attempt has ended."""
        attempt.threads_alive -= 1
        self._free_if_over(attempt)

    def _free_if_over(self, attempt: Attempt) -> None:
        """Give the slot back, unless a thread still runs."""
        if attempt.is_alive:
            return
        free_slot = self.alive.pop(attempt, None)
        if free_slot is not None:
            free_slot()

    # --- recording ------------------------------------------------------------------------------
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
            transaction.log(_entry(attempt, after, event, now))

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

    def _log_call(self, attempt: Attempt, event: Event) -> None:
        entry = _entry(attempt, None, event, self._clock.now())
        self._submit(Request(lambda transaction: transaction.log(entry), persists=True))

    def _leave(self, attempt: Attempt) -> None:
        """The outcome is recorded."""
        attempt.has_ended = True
        self._unrecorded.discard(attempt)
        self.touched.discard(attempt)
        if attempt.job is not None and self._of_job.get(attempt.job.id) is attempt:
            del self._of_job[attempt.job.id]

    # --- stopping -------------------------------------------------------------------------------
    def ask_to_stop(self, attempt: Attempt, reason: StopReason) -> None:
        """Ask an attempt to stop, and abort it when its grace is over."""
        grace_until = self._clock.now() + attempt.grace
        if not attempt.ask(reason, grace_until) or self._tasks is None:
            return
        self.touched.add(attempt)
        if not attempt.grace:
            attempt.abort()
            return
        attempt.watches_to_start += 1
        self._tasks.start_soon(self._enforce, attempt, grace_until, name="grace")

    async def _enforce(self, attempt: Attempt, grace_until: datetime) -> None:
        attempt.watches_to_start -= 1
        with attempt.watching():
            await self._clock.sleep_until(grace_until)
        if not attempt.body_ended:
            self.touched.add(attempt)
            attempt.abort()

    def _watch_time(self, attempt: Attempt, action: RunnableAction, outer: Attempt) -> None:
        if action.timeout is not None and self._tasks is not None:
            outer.watches_to_start += 1
            self._tasks.start_soon(self._time_out, attempt, action.timeout, outer, name="timeout")

    async def _time_out(self, attempt: Attempt, limit: timedelta, outer: Attempt) -> None:
        outer.watches_to_start -= 1
        with attempt.watching():
            await self._clock.sleep_until(attempt.execution.now + limit)
        if attempt.body_ended:
            return
        if attempt is outer:
            self.ask_to_stop(attempt, "timeout")
        else:  # an action inside another has no request of its own
            self.touched.add(outer)
            attempt.abort()


def _verdict(attempt: Attempt, event: Event, action: RunnableAction) -> Event:
    """What counts of how the body ended, after a request to stop."""
    if attempt.reason == "timeout":
        return Fail(JobError("timeout", "TimeoutError", _too_long(action), ""))
    if attempt.reason == "stop" and (attempt.was_told or attempt.was_aborted):
        return Interrupt(interrupted("the app was stopped while it ran"))
    return event


def _too_long(action: RunnableAction) -> str:
    return f"the action ran longer than its timeout of {action.timeout}"


def _entry(attempt: Attempt, after: JobRecord | None, event: Event, now: datetime) -> LogEntry:
    """The row of the execution log."""
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


def _nothing() -> None:
    """What a called action gives back: it has no slot."""


def is_cancelled_from_outside(error: BaseException) -> bool:
    """Whether the whole engine is being cancelled, which no attempt may swallow."""
    is_cancellation = isinstance(error, anyio.get_cancelled_exc_class())
    return is_cancellation and anyio.current_effective_deadline() == float("-inf")
