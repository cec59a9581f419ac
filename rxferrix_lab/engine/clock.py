"""The one source of time. Nothing else in the package asks what time it is.

`SystemClock` looks at the wall clock again every few seconds, because a monotonic one stops in
suspend and the wall clock may be set. `VirtualClock` stands until it is moved, and wakes its
sleepers in order.
"""

import heapq
import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime

import anyio
import anyio.lowlevel

from rxferrix_lab.domain.given import checked_datetime
from rxferrix_lab.errors import InstantError

LONGEST_NAP_S = 2.0


def stopwatch_s() -> float:
    """Seconds on a clock that never goes back; for durations, never for instants."""
    return time.monotonic()


async def real_pause(seconds: float) -> None:
    """Wait in real time, whatever clock the app has."""
    await anyio.sleep(seconds)


class Clock(ABC):
    """Where an app's instants come from."""

    @abstractmethod
    def now(self) -> datetime:
        """The present instant, aware and in UTC."""

    @abstractmethod
    async def sleep_until(self, instant: datetime) -> None:
        """Return once `instant` has come; at once where it has passed."""


class SystemClock(Clock):
    """The machine's wall clock."""

    def now(self) -> datetime:
        """The present instant, aware and in UTC."""
        return datetime.now(UTC)

    async def sleep_until(self, instant: datetime) -> None:
        """Return once the wall clock shows `instant`.

        A clock set ahead is seen within two seconds.
        """
        await anyio.lowlevel.checkpoint()
        while (remaining_s := (instant - self.now()).total_seconds()) > 0:  # noqa: ASYNC110  # the wall clock tells nobody
            await anyio.sleep(min(remaining_s, LONGEST_NAP_S))


class Waits:
    """Which tasks wait on the clock or on the scheduler, and not on something real."""

    def __init__(self) -> None:
        self._depth: dict[int, int] = {}

    @contextmanager
    def waiting(self) -> Generator[None, None, None]:
        """The current task waits on the clock inside this block."""
        task = anyio.get_current_task().id
        self._depth[task] = self._depth.get(task, 0) + 1
        try:
            yield
        finally:
            self._depth[task] -= 1
            if not self._depth[task]:
                del self._depth[task]

    def has(self, task: int) -> bool:
        """Whether the task waits on the clock."""
        return task in self._depth


class VirtualClock(Clock):
    """A clock that stands until somebody moves it.

    Its sleepers wake in order of instant, then of age.
    """

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        if checked_datetime(start, "a virtual clock's start").utcoffset() is None:
            raise InstantError(
                f"{start} has no time zone; a virtual clock starts at an aware datetime"
            )
        self._now = start.astimezone(UTC)
        self._sleepers: list[tuple[datetime, int, anyio.Event]] = []
        self._ages = itertools.count()
        self._resuming = 0
        self.waits = Waits()

    def now(self) -> datetime:
        """The instant at which the clock stands, aware and in UTC."""
        return self._now

    def move_to(self, instant: datetime) -> None:
        """Stand at a later instant, waking nobody; an earlier one is ignored."""
        self._now = max(self._now, instant.astimezone(UTC))

    def jump_to(self, instant: datetime) -> None:
        """Stand at any instant, also an earlier one: a wall clock that somebody set."""
        self._now = instant.astimezone(UTC)

    async def sleep_until(self, instant: datetime) -> None:
        """Return once the clock was moved to `instant` and this sleeper's turn has come."""
        if instant <= self._now:
            await anyio.lowlevel.checkpoint()
            return
        woken = anyio.Event()
        entry = (instant, next(self._ages), woken)
        heapq.heappush(self._sleepers, entry)
        try:
            with self.waits.waiting():
                await woken.wait()
        finally:
            if woken.is_set():
                self._resuming -= 1
            else:
                self._sleepers.remove(entry)
                heapq.heapify(self._sleepers)

    def next_wake(self) -> datetime | None:
        """When the next sleeper wants to wake; None where nobody sleeps."""
        return self._sleepers[0][0] if self._sleepers else None

    def wake_next(self) -> bool:
        """Wake the first sleeper whose instant has come; False where there is none."""
        if not self._sleepers or self._sleepers[0][0] > self._now:
            return False
        _, _, woken = heapq.heappop(self._sleepers)
        self._resuming += 1
        woken.set()
        return True

    @property
    def is_settling(self) -> bool:
        """Whether a woken sleeper has not gone on yet."""
        return self._resuming > 0


def checked_clock(clock: object) -> Clock:
    """The clock, if it is one.

    Raises:
        TypeError: for anything else.
    """
    if not isinstance(clock, Clock):
        raise TypeError(f"clock is a SystemClock or a VirtualClock, not {clock!r:.60}")
    return clock
