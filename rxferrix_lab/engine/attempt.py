"""One execution of an action, and what can be asked of it while it runs.

Holds the request to stop, its grace, and what the action told of itself. Owned by the engine's
loop; a plain `def` action reads it from its thread, where a flag read late does no harm.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

import anyio

from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.engine.program import Execution
from rxferrix_lab.errors import ActionCanceled

StopReason = Literal["cancel", "timeout", "stop"]


@dataclass(eq=False, slots=True)
class Attempt:
    """An action that runs, or a straggler whose thread has not ended."""

    execution: Execution
    job: JobRecord | None  # null for an action that somebody called
    grace: timedelta
    in_thread: bool
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    asked: anyio.Event = field(default_factory=anyio.Event)
    reason: StopReason | None = None  # null until it is asked to stop
    grace_until: datetime | None = None
    was_told: bool = False  # the action saw that it should stop
    was_aborted: bool = False
    has_ended: bool = False  # its outcome is recorded
    thread_is_alive: bool = False
    task: int | None = None  # of the event loop; null until it runs
    progress: str | None = None  # the last one told, as JSON
    output: list[str] = field(default_factory=list)
    cleanups: set[anyio.CancelScope] = field(default_factory=set)
    cleanup_depth: int = 0
    races: set[anyio.CancelScope] = field(default_factory=set)  # work that a request to stop ends
    calls_waiting_on_clock: int = 0  # from the thread of a plain `def` action

    @property
    def is_stopping(self) -> bool:
        """Whether the action was asked to stop, for whatever reason; what it sees as canceled."""
        if self.reason is not None:
            self.was_told = True
            return True
        return False

    @property
    def is_straggler(self) -> bool:
        """Whether the outcome is recorded while the thread still runs."""
        return self.has_ended and self.thread_is_alive

    async def until_asked(self) -> None:
        """Return once the action is asked to stop."""
        await self.asked.wait()
        self.was_told = True

    def refuse_after_request(self, now: datetime) -> None:
        """Refuse further work after a cancellation or a timeout, cleanup within the grace excepted.

        Raises:
            ActionCanceled: contract 4.3. A clean stop of the app refuses nothing (3.4).
        """
        if self.reason in (None, "stop"):
            return
        self.was_told = True
        in_grace = self.grace_until is not None and now < self.grace_until
        if self.cleanup_depth and in_grace and not self.was_aborted:
            return
        what = "timed out" if self.reason == "timeout" else "was canceled"
        why = "its grace is over" if self.cleanup_depth else "clean up inside `with ctx.cleanup():`"
        raise ActionCanceled(f"{self.execution.function} {what}; it can start nothing more: {why}")

    @contextmanager
    def cleaning_up(self) -> Generator[None, None, None]:
        """A block that cancellation does not reach until the grace ends."""
        with anyio.CancelScope(shield=True) as scope:
            if self.was_aborted:
                scope.cancel()
            self.cleanups.add(scope)
            self.cleanup_depth += 1
            try:
                yield
            finally:
                self.cleanup_depth -= 1
                self.cleanups.discard(scope)

    @contextmanager
    def racing(self) -> Generator[None, None, None]:
        """A block that a request to stop ends at its next await; execution goes on behind it."""
        with anyio.CancelScope() as scope:
            if self.is_stopping:
                scope.cancel()
            self.races.add(scope)
            try:
                yield
            finally:
                self.races.discard(scope)
        self.was_told = self.was_told or scope.cancelled_caught

    def ask(self, reason: StopReason, grace_until: datetime) -> bool:
        """Ask the action to stop; False where it was asked already."""
        if self.reason is not None and not (self.reason == "stop" and reason == "cancel"):
            return False
        self.reason = reason
        self.grace_until = grace_until
        self.asked.set()
        for scope in self.races:
            scope.cancel()
        return True

    def abort(self) -> None:
        """End the action at its next await; a thread cannot be ended."""
        self.was_aborted = True
        for scope in self.cleanups:
            scope.cancel()
        self.scope.cancel()
