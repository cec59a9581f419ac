"""Marks waits that virtual time may pass over. Under a system clock there is nothing to mark."""

from contextlib import AbstractContextManager, nullcontext

from rxferrix_lab.engine.clock import Clock, VirtualClock


def waiting_on_clock(clock: Clock) -> AbstractContextManager[None]:
    """A block in which the current task waits for the scheduler or the clock.

    Not for something real.
    """
    return clock.waits.waiting() if isinstance(clock, VirtualClock) else nullcontext()
