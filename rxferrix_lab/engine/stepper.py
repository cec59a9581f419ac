"""Runs an engine under a virtual clock, step by step, the same way every time.

What is due at one instant starts in order, each running until it ends or waits on the clock before
the next starts; then the clock moves to the next instant at which something happens, never past
one.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import anyio
import anyio.lowlevel

from rxferrix_lab.domain.job import JobId
from rxferrix_lab.engine.attempt import Attempt
from rxferrix_lab.engine.clock import VirtualClock, real_pause, stopwatch_s
from rxferrix_lab.engine.engine import Engine
from rxferrix_lab.engine.quiescence import waits_on_clock
from rxferrix_lab.errors import VirtualTimeError

EAGER_TURNS = 20
QUIET_TURNS = 3  # asyncio delivers a cancellation up to two turns later
PAUSE_S = 0.002


@dataclass(slots=True)
class Stepper:
    """Steps one engine. Owned by the task that calls it."""

    engine: Engine
    clock: VirtualClock
    max_steps: int = 1_000_000
    real_timeout: timedelta = timedelta(seconds=30)
    _steps: int = 0

    async def run_due(self) -> list[JobId]:
        """Run all that is due now and what that makes due; returns what ran, in order."""
        return await self._recording(self.clock.now())

    async def advance(self, duration: timedelta) -> list[JobId]:
        """Move to now + `duration`, stopping at every instant at which something happens."""
        return await self._recording(self.clock.now() + duration)

    async def _recording(self, until: datetime) -> list[JobId]:
        ran: list[JobId] = []
        self._steps = 0
        self.engine.dispatch.started = ran
        try:
            await self._run_until(until, ran)
        finally:
            self.engine.dispatch.started = None
            self.engine.is_settled = False
        return ran

    async def _run_until(self, until: datetime, ran: list[JobId]) -> None:
        await self._exhaust(ran)
        while (following := self._next_instant()) is not None and following <= until:
            self.clock.move_to(following)
            self._count(1, ran)
            await self._exhaust(ran)
        self.clock.move_to(until)

    def _next_instant(self) -> datetime | None:
        instants = (self.engine.next_instant(), self.clock.next_wake())
        return min((instant for instant in instants if instant is not None), default=None)

    async def _exhaust(self, ran: list[JobId]) -> None:
        """Do everything that this instant asks for."""
        engine, now = self.engine, self.clock.now()
        await self._settle()
        while True:
            if engine.cancel_next() or self.clock.wake_next():
                self._count(1, ran)
                await self._settle()
                continue
            engine.ticker.tick(now)
            engine.retention.sweep(now)
            taken = self._dispatch(now)
            if not taken:
                break
            self._count(taken, ran)
            await self._settle()

    def _dispatch(self, now: datetime) -> int:
        """The mutations that come before the next action as one group, or else that action."""
        dispatch = self.engine.dispatch
        return dispatch.dispatch_mutations(now) or dispatch.dispatch(now, most=1)

    # --- letting things run ---------------------------------------------------------------------
    async def _settle(self) -> None:
        """Return once every attempt has ended or waits on the clock."""
        turns, quiet_turns, began_s = 0, 0, stopwatch_s()
        while True:
            await anyio.lowlevel.checkpoint()
            busy = self._busy()
            if busy is None and not self.clock.is_settling:
                quiet_turns += 1
                if quiet_turns == QUIET_TURNS:
                    self.engine.is_settled = True
                    return
                continue
            quiet_turns = 0
            turns += 1
            if turns > EAGER_TURNS:
                await real_pause(PAUSE_S)
            if stopwatch_s() - began_s > self.real_timeout.total_seconds():
                raise VirtualTimeError(self._stuck(busy))

    def _busy(self) -> Attempt | None:
        """An attempt that may go on without the clock, if there is one."""
        touched = self.engine.attempts.touched
        for attempt in list(touched):
            if self._is_quiet(attempt):
                touched.discard(attempt)
            else:
                return attempt
        return None

    def _is_quiet(self, attempt: Attempt) -> bool:
        if attempt.has_ended:
            return True
        if attempt.task is None or attempt.watches_to_start:
            return False
        # A thread is quiet while it waits for a call that waits on the clock.
        tasks = (attempt.task, *attempt.calls)
        return len(attempt.calls) >= attempt.threads_alive and all(
            waits_on_clock(task, self.clock.waits) for task in tasks
        )

    def _stuck(self, busy: Attempt | None) -> str:
        who = busy.execution.function if busy is not None else "a woken task"
        job = busy.execution.job if busy is not None else None
        return (
            f"{who}{f' (job {job})' if job is not None else ''} has waited on something real for "
            f"{self.real_timeout.total_seconds():g} s while virtual time stands; wait with "
            "ctx.sleep, "
            "or give real_timeout= more"
        )

    def _count(self, steps: int, ran: list[JobId]) -> None:
        self._steps += steps
        if self._steps <= self.max_steps:
            return
        raise VirtualTimeError(
            f"more than {self.max_steps:,} steps without an end; the busiest functions: "
            f"{self._busiest(ran[-1000:])}"
        )

    def _busiest(self, jobs: list[JobId]) -> str:
        with self.engine.store.snapshot() as snapshot:
            names = [found.function for job in jobs if (found := snapshot.job(job)) is not None]
        ranked = sorted(set(names), key=names.count, reverse=True)[:3]
        return ", ".join(
            f"{name} ({names.count(name)} of the last {len(names)})" for name in ranked
        )
