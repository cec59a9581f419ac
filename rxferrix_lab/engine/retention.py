"""Deletes what ended long ago: never earlier than the keep period, at most an hour later.

Sweeps only when something can be old enough, so a quiet app is left alone.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from rxferrix_lab.engine.attempts import Submit
from rxferrix_lab.engine.clock import Clock
from rxferrix_lab.engine.writer import Answer, Commit, Request
from rxferrix_lab.storage.transaction import Transaction

SPACING = timedelta(minutes=30)
AFTER_LEAP = timedelta(hours=1)
BATCH = 20_000


class Retention:
    """Knows when the next sweep is worth it. Owned by the engine's loop."""

    def __init__(self, clock: Clock, submit: Submit, keep: timedelta) -> None:
        self._clock = clock
        self._submit = submit
        self._keep = keep
        self._oldest: datetime | None = None  # null: nothing has ended
        self._not_before: datetime | None = None
        self._is_sweeping = False
        self._holds_expired = True  # rows that go once an unfinished job no longer refers to them

    def learn(self, oldest: datetime | None) -> None:
        """Take over when the oldest ended row did."""
        self._oldest = oldest

    def note(self, commit: Commit) -> None:
        """Something may have ended with this commit."""
        now = self._clock.now()
        has_ended = any(job.is_finished for job in commit.jobs)
        if self._oldest is not None and self._oldest + self._keep <= now:
            return
        if has_ended and self._holds_expired:
            self._oldest = now - self._keep
            self._wait_until(now + SPACING)
        elif self._oldest is not None and self._oldest <= now:
            return  # after a clock was set back, what ends now is the oldest
        elif has_ended or "_execution_log" in commit.change.tables:
            self._oldest = now

    def wait_after_leap(self) -> None:
        """The clock leapt: what looks old may not be (contract 5.6)."""
        self._not_before = self._clock.now() + AFTER_LEAP  # also where it was set back

    def next_instant(self) -> datetime | None:
        """When the next sweep is due; None while nothing has ended."""
        if self._oldest is None or self._is_sweeping:
            return None
        due = self._oldest + self._keep
        return max(due, self._not_before) if self._not_before is not None else due

    def sweep(self, now: datetime) -> None:
        """Hand in a sweep, if one is due."""
        due = self.next_instant()
        if due is None or due > now:
            return
        self._is_sweeping = True
        before = now - self._keep
        self._submit(
            Request(lambda tx: self._expire(tx, before), landed=self._swept, persists=True)
        )

    def _expire(self, transaction: Transaction, before: datetime) -> "_Swept":
        gone = transaction.expire(before, BATCH)
        return _Swept(gone, transaction.oldest_end(), transaction.holds_expired(before))

    def _swept(self, answer: Answer) -> None:
        self._is_sweeping = False
        now = self._clock.now()
        if not isinstance(answer.value, _Swept):
            self._wait_until(now + SPACING)
            return
        gone, self._oldest = answer.value.gone, answer.value.oldest
        self._holds_expired = answer.value.holds_expired
        # A full batch means that more is old enough; else the next look waits for company.
        self._wait_until(now if gone >= BATCH else now + SPACING)

    def _wait_until(self, instant: datetime) -> None:
        """Never sooner than after a leap."""
        self._not_before = max(instant, self._not_before or instant)


@dataclass(frozen=True, slots=True)
class _Swept:
    """What a sweep did."""

    gone: int  # rows
    oldest: datetime | None  # when the oldest of those ended that may be deleted later
    holds_expired: bool
