"""How long a failed action waits before its next attempt.

Draws nothing itself: the caller gives the source of randomness.
"""

import math
from dataclasses import dataclass
from datetime import timedelta
from random import Random

from rxferrix_lab.domain.asked_time import checked_timedelta


@dataclass(frozen=True)
class Backoff:
    """The wait before each retry: ``initial``, times ``factor`` for each further one.

    Contract 2.6: 250 ms · 2^(k−1) before retry k, times a seeded number from ``jitter``, at most
    an hour.
    """

    initial: timedelta = timedelta(milliseconds=250)
    factor: float = 2.0
    jitter: tuple[float, float] = (0.5, 1.5)
    ceiling: timedelta = timedelta(hours=1)

    def __post_init__(self) -> None:
        """Refuse what cannot be waited.

        Raises:
            ValueError: if a duration is negative, a number is not finite, or the jitter's ends are
                out of order.
        """
        checked_timedelta(self.initial, "a backoff's initial wait")
        checked_timedelta(self.ceiling, "a backoff's ceiling")
        low, high = self.jitter
        numbers = (self.factor, low, high)
        if self.initial < timedelta(0) or self.ceiling < timedelta(0):
            raise ValueError("a backoff waits zero or more: initial and ceiling cannot be negative")
        if not all(math.isfinite(number) and number >= 0 for number in numbers):
            raise ValueError("a backoff's factor and jitter are finite numbers of zero or more")
        if low > high:
            raise ValueError(f"the jitter {self.jitter} must be (lowest, highest)")

    def delay_before(self, attempt: int, rng: Random) -> timedelta:
        """Time to wait before attempt number ``attempt``, counted from the last failure.

        The delay multiplies by ``factor`` per attempt, then by a number drawn from ``jitter`` so
        that jobs failing together do not return together, and never exceeds ``ceiling``.

        Args:
            attempt: 2 for the first retry; the first attempt never waits.
            rng: source of the jitter. A seeded one makes a test exact.

        Raises:
            ValueError: if ``attempt`` is below 2.

        >>> calm = Backoff(initial=timedelta(seconds=1), jitter=(1, 1))
        >>> [calm.delay_before(n, Random(0)).seconds for n in (2, 3, 4)]
        [1, 2, 4]
        """
        if attempt < 2:
            raise ValueError(f"attempt {attempt} never waits; the first retry is attempt 2")
        ceiling_s = self.ceiling.total_seconds()
        delay_s = self.initial.total_seconds() * self._growth(attempt - 2)
        jittered_s = delay_s * rng.uniform(*self.jitter)
        return timedelta(seconds=min(jittered_s, ceiling_s))

    def _growth(self, doublings: int) -> float:
        try:
            return self.factor**doublings
        except OverflowError:
            return math.inf if self.initial else 0.0
