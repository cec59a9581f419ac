"""The running action's side of its context.

Calls, schedules, waits, and refuses after a request to stop.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import anyio.from_thread

from rxferrix_lab.engine.waiting import waiting_on_clock
from rxferrix_lab.errors import ActionCanceled, DeadContextError, NotRunningError

if TYPE_CHECKING:
    from datetime import datetime, timedelta

    from rxferrix_lab.app.functions import Action, Mutation, Query
    from rxferrix_lab.app.registry import Registry
    from rxferrix_lab.app.runtime import Runtime
    from rxferrix_lab.app.scheduling import Desk
    from rxferrix_lab.engine.attempt import Attempt

T = TypeVar("T")
Arguments = tuple[Any, ...]  # checked by the function's signature
Keywords = dict[str, Any]


class ActionDesk:
    """One attempt of an action. Made on the engine's loop, inside the attempt's task."""

    def __init__(self, runtime: Runtime, attempt: Attempt) -> None:
        self._runtime = runtime
        self.attempt = attempt
        self.registry: Registry = runtime.registry

    def now(self) -> datetime:
        """The present instant."""
        return self._runtime.engine.clock.now()

    def check(self, *, cancels: bool = False) -> None:
        """Refuse what starts something new after a request to stop; cancelling stays allowed.

        Raises:
            ActionCanceled: contract 4.3.
            DeadContextError: if the action has ended.
        """
        self._refuse_after_end()
        if not cancels:
            self.attempt.refuse_after_request(self.now())

    def _refuse_after_end(self) -> None:
        attempt = self.attempt
        if attempt.body_ended and not attempt.was_aborted:
            raise DeadContextError(attempt.execution.function)

    def tell_progress(self, progress: str) -> None:
        """Keep the last progress, and let the screens know."""
        self.attempt.progress = progress
        self._runtime.engine.vitals.note_progress()

    # --- calls ----------------------------------------------------------------------------------
    async def run_query(self, fn: Query[..., T], args: Arguments, kwargs: Keywords) -> T:
        """Run a query."""
        self._refuse_after_end()
        return await self._runtime.run_query(fn, args, kwargs, self.attempt.execution)

    async def run_mutation(self, fn: Mutation[..., T], args: Arguments, kwargs: Keywords) -> T:
        """Run a mutation, unless the action was asked to stop."""
        self.check()
        return await self._runtime.run_mutation(fn, args, kwargs, self.attempt.execution)

    async def run_action(self, fn: Action[..., T], args: Arguments, kwargs: Keywords) -> T:
        """Run another action inside this attempt, unless it was asked to stop."""
        self.check()
        return await self._runtime.run_inner_action(fn, args, kwargs, self.attempt)

    async def handed_in(self, body: Callable[[Desk], T], *, cancels: bool = False) -> T:
        """Run a scheduling body in a transaction of its own."""
        self.check(cancels=cancels)
        return await self._runtime.schedule(body, self.attempt.execution)

    def hand_in(self, body: Callable[[Desk], T], *, cancels: bool = False) -> T:
        """The same, from the action's thread."""
        return self.from_thread(lambda: self.handed_in(body, cancels=cancels))

    # --- waiting --------------------------------------------------------------------------------
    async def sleep(self, duration: timedelta) -> None:
        """Wait on the app's clock."""
        clock = self._runtime.engine.clock
        try:
            await clock.sleep_until(clock.now() + duration)
        finally:
            self._touch()

    async def until_asked(self) -> None:
        """Return once the attempt is asked to stop."""
        try:
            with waiting_on_clock(self._runtime.engine.clock):
                await self.attempt.until_asked()
        finally:
            self._touch()

    async def or_canceled(self, work: Awaitable[T]) -> T:
        """The value of `work`, or ActionCanceled as soon as the attempt is asked to stop."""
        with self.attempt.racing():
            return await work
        raise ActionCanceled(f"{self.attempt.execution.function} was asked to stop")

    def _touch(self) -> None:
        """The attempt goes on: a stepper must wait for it again."""
        if not self.attempt.has_ended:
            self._runtime.engine.attempts.touched.add(self.attempt)

    def from_thread(self, work: Callable[[], Awaitable[T]], *, on_clock: bool = False) -> T:
        """Run a coroutine on the engine's loop from the action's thread, and wait for it.

        Raises:
            ActionCanceled: if the grace ends meanwhile; for a wait on the clock, also if it has.
            NotRunningError: if the engine's loop has ended.
        """

        async def called() -> T:
            if on_clock:
                self.attempt.refuse_after_abort()
            try:
                return await self.attempt.calling_from_thread(work)
            finally:
                self._touch()

        loop = self._runtime.engine.loop
        try:
            return anyio.from_thread.run(called, token=loop.token if loop is not None else None)
        except anyio.RunFinishedError:
            raise NotRunningError("the app has stopped while the action ran") from None
