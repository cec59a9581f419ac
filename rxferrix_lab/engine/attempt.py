"""One execution of an action, and what can be asked of it while it runs.

Holds the request to stop, its grace, and what the action told of itself. Owned by the engine's
loop; a plain `def` action reads it from its thread, where a flag read late does no harm.
"""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal, TypeVar

import anyio

from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.engine.program import Execution
from rxferrix_lab.errors import ActionCanceled

T = TypeVar("T")
StopReason = Literal["cancel", "timeout", "stop"]
# Follows the code into the tasks and threads that a cleanup starts, and not into its neighbours.
_cleaning: ContextVar["Attempt | None"] = ContextVar("rxferrix_cleaning", default=None)


@dataclass(eq=False, slots=True)
class Attempt:
    """An action that runs, or a straggler whose thread has not ended."""

    execution: Execution
    job: JobRecord | None  # null for an action that somebody called
    grace: timedelta
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    reason: StopReason | None = None  # null until it is asked to stop
    grace_until: datetime | None = None
    was_told: bool = False  # the action saw that it should stop
    was_aborted: bool = False
    body_ended: bool = False  # nothing of it runs any more, but for threads
    has_ended: bool = False  # its outcome is recorded
    raised: BaseException | None = None  # what the body raised
    threads_alive: int = 0
    watches_to_start: int = 0  # tasks that do not wait on the clock yet
    task: int | None = None  # of the event loop; null until it runs
    calls: dict[int, anyio.CancelScope] = field(default_factory=dict)  # by task, from threads
    progress: str | None = None  # the last one told, as JSON
    output: list[str] = field(default_factory=list)
    cut_on_abort: set[anyio.CancelScope] = field(default_factory=set)  # cleanups
    cut_on_request: set[anyio.CancelScope] = field(default_factory=set)  # races
    cut_at_end: set[anyio.CancelScope] = field(default_factory=set)  # watches on the clock
    _asked: anyio.Event | None = None  # made by the first who waits for it

    @property
    def is_stopping(self) -> bool:
        """Whether the action was asked to stop, for whatever reason; what it sees as canceled."""
        if self.reason is not None:
            self.was_told = True
            return True
        return False

    @property
    def is_alive(self) -> bool:
        """Whether anything of it runs: what a slot counts."""
        return not self.body_ended or self.threads_alive > 0

    @property
    def is_straggler(self) -> bool:
        """Whether it is over while a thread of it still runs."""
        return self.body_ended and self.threads_alive > 0

    async def until_asked(self) -> None:
        """Return once the action is asked to stop."""
        if self._asked is None:
            self._asked = anyio.Event()
            if self.reason is not None:
                self._asked.set()
        await self._asked.wait()
        self.was_told = True

    def refuse_after_request(self, now: datetime) -> None:
        """Refuse further work after a cancellation or a timeout, cleanup within the grace excepted.

        Raises:
            ActionCanceled: contract 4.3. A clean stop of the app refuses nothing (3.4).
        """
        if self.reason in (None, "stop"):
            return
        self.was_told = True
        is_cleaning = _cleaning.get() is self
        in_grace = self.grace_until is not None and now < self.grace_until
        if is_cleaning and in_grace and not self.was_aborted:
            return
        what = "timed out" if self.reason == "timeout" else "was canceled"
        why = "its grace is over" if is_cleaning else "clean up inside `with ctx.cleanup():`"
        raise ActionCanceled(f"{self.execution.function} {what}; it can start nothing more: {why}")

    def refuse_after_abort(self) -> None:
        """Refuse a straggler what would make it wait still longer.

        Raises:
            ActionCanceled: once the grace is over.
        """
        if self.was_aborted:
            raise ActionCanceled(f"{self.execution.function} has to end: its grace is over")

    @contextmanager
    def cleaning_up(self) -> Generator[None, None, None]:
        """A block that cancellation does not reach until the grace ends."""
        cleaning = _cleaning.set(self)
        try:
            if _is_on_loop():
                with self._cut_by(self.cut_on_abort, anyio.CancelScope(shield=True)) as scope:
                    if self.was_aborted:
                        scope.cancel()
                    yield
            else:  # no cancellation reaches a thread
                yield
        finally:
            _cleaning.reset(cleaning)

    @contextmanager
    def racing(self) -> Generator[None, None, None]:
        """A block that a request to stop ends at its next await; execution goes on behind it."""
        with self._cut_by(self.cut_on_request, anyio.CancelScope()) as scope:
            if self.is_stopping:
                scope.cancel()
            yield
        self.was_told = self.was_told or scope.cancelled_caught

    @contextmanager
    def watching(self) -> Generator[anyio.CancelScope, None, None]:
        """A block that the end of the body ends: it watches the clock."""
        with self._cut_by(self.cut_at_end, anyio.CancelScope()) as scope:
            if self.body_ended:
                scope.cancel()
            yield scope

    async def calling_from_thread(self, work: Callable[[], Awaitable[T]]) -> T:
        """What a thread of the action waits for; where the action is aborted, it waits no more.

        Raises:
            ActionCanceled: if the grace ends meanwhile.
        """
        task = anyio.get_current_task().id
        with anyio.CancelScope() as scope:
            self.calls[task] = scope
            try:
                return await work()
            finally:
                del self.calls[task]
        raise ActionCanceled(f"{self.execution.function} has to end: its grace is over")

    @contextmanager
    def _cut_by(
        self, owners: set[anyio.CancelScope], scope: anyio.CancelScope
    ) -> Generator[anyio.CancelScope, None, None]:
        with scope:
            owners.add(scope)
            try:
                yield scope
            finally:
                owners.discard(scope)

    def ask(self, reason: StopReason, grace_until: datetime) -> bool:
        """Ask the action to stop; False where it was asked already, or is over."""
        is_new = self.reason is None or (self.reason == "stop" and reason == "cancel")
        if self.body_ended or not is_new:
            return False
        self.reason = reason
        self.grace_until = grace_until
        if self._asked is not None:
            self._asked.set()
        for scope in self.cut_on_request:
            scope.cancel()
        return True

    def abort(self) -> None:
        """End the action at its next await; a thread cannot be ended, only its waits."""
        self.was_aborted = True
        for scope in self.cut_on_abort:
            scope.cancel()
        self.scope.cancel()
        for scope in self.calls.values():
            scope.cancel()

    def end_body(self) -> None:
        """Nothing of it runs any more, but for threads."""
        self.body_ended = True
        self.task = None
        for scope in self.cut_at_end:
            scope.cancel()


def _is_on_loop() -> bool:
    try:
        anyio.get_current_task()
    except RuntimeError:  # a thread without an event loop
        return False
    return True
