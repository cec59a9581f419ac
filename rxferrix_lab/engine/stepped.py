"""An engine on a virtual clock as a service: others call it and move its time from their threads.

Everything runs on the engine's one thread, in the order in which it was handed in. What is due
while the clock stands runs at once; time moves only when somebody moves it.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta

import anyio

from rxferrix_lab.domain.job import JobId
from rxferrix_lab.engine.clock import VirtualClock
from rxferrix_lab.engine.engine import Engine
from rxferrix_lab.engine.stepper import Stepper
from rxferrix_lab.engine.writer import Request
from rxferrix_lab.engine.writer_thread import InlineLine, refuse
from rxferrix_lab.errors import (
    InstantError,
    NotRunningError,
    StoreUnavailableError,
    VirtualTimeError,
)

logger = logging.getLogger(__name__)
Move = tuple[datetime | timedelta, "Future[list[JobId]]"]


class SteppedService:
    """Runs one engine whose time stands until it is moved."""

    def __init__(self, engine: Engine, clock: VirtualClock) -> None:
        self._engine = engine
        self._clock = clock
        self._stepper = Stepper(engine, clock)
        self._moves: deque[Move] = deque()

    def move(self, to: datetime | timedelta) -> "Future[list[JobId]]":
        """Move time to an instant, or by a duration; from any thread.

        The future has the jobs that ran. An instant that has passed moves nothing.

        Raises:
            InstantError: for a naive instant or a negative duration.
            NotRunningError: if the engine has stopped.
        """
        _check(to)
        future: Future[list[JobId]] = Future()

        def take() -> None:
            self._moves.append((to, future))
            self._engine.nudge()

        if not self._engine.call_soon(take):
            raise NotRunningError("the app has stopped")
        return future

    async def serve(self, started: Callable[[], object]) -> None:
        """Run until the engine is asked to stop, then give what runs its grace of virtual time."""
        engine = self._engine
        line = LoopLine(engine)
        try:
            async with anyio.create_task_group() as tasks:
                await engine.start_inline(tasks, line)
                started()
                await self._keep_going()
                await self._drain()
                tasks.cancel_scope.cancel()
        finally:
            engine.abandon()
            engine.take_waiting_calls()
            for _, future in self._moves:
                future.set_exception(NotRunningError("the app has stopped"))

    async def _keep_going(self) -> None:
        while not self._engine.must_stop:
            nudged = self._engine.next_nudge()
            if self._moves:
                await self._make_move(*self._moves.popleft())
            else:
                await self._run_due()
            if not self._moves:
                await nudged.wait()

    async def _make_move(self, to: datetime | timedelta, future: "Future[list[JobId]]") -> None:
        until = self._clock.now() + to if isinstance(to, timedelta) else to
        try:
            future.set_result(await self._stepper.advance(until - self._clock.now()))
        except VirtualTimeError as error:
            future.set_exception(error)
        except anyio.get_cancelled_exc_class():
            future.cancel()
            raise

    async def _run_due(self) -> None:
        try:
            await self._stepper.run_due()
        except VirtualTimeError as error:
            logger.warning("%s", error)

    async def _drain(self) -> None:
        engine = self._engine
        engine.dispatch.is_stopped = engine.ticker.is_stopped = True
        running = engine.attempts.running()
        if not running:
            return
        for attempt in running:
            engine.attempts.ask_to_stop(attempt, "stop")
        grace = max(attempt.grace for attempt in running)
        with anyio.move_on_after(grace.total_seconds()):
            await self._make_move(grace, Future())


class LoopLine:
    """Runs requests on the engine's own thread: now where the caller is there, else in its turn."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._inline = InlineLine(engine.writer)
        self._thread = threading.get_ident()
        self.waiting = 0
        self.trouble: str | None = None

    def submit(self, requests: Sequence[Request]) -> None:
        """Hand in requests; they run in the order of all hand-ins."""
        if threading.get_ident() == self._thread:
            self._inline.submit(requests)
        elif not self._engine.call_soon(lambda: self._run(requests)):
            refuse(requests)

    def _run(self, requests: Sequence[Request]) -> None:
        try:
            self._inline.submit(requests)
        except StoreUnavailableError as error:  # whoever asked was told
            self.trouble = str(error)
        else:
            self.trouble = None

    def is_writer_thread(self) -> bool:
        """Whether the caller is inside a mutation."""
        return threading.get_ident() == self._thread and self._engine.writer.is_in_body

    def close(self) -> None:
        """Take nothing more."""
        self._inline.close()


def _check(to: object) -> None:
    if isinstance(to, timedelta):
        if to < timedelta(0):
            raise InstantError(f"virtual time only goes on: {to} is negative")
    elif not isinstance(to, datetime):
        raise InstantError(f"time is moved to a datetime or by a timedelta, not {to!r:.60}")
    elif to.utcoffset() is None:
        raise InstantError(f"{to} has no time zone; give it one, such as tzinfo={UTC}")
