"""Schedules become jobs.

Knows when each cron runs next and hands in those that are due; never runs a job, and leaves to
`occurrences` what becomes of a cron inside the transaction.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.engine.attempts import Submit
from rxferrix_lab.engine.clock import Clock
from rxferrix_lab.engine.crons import notice
from rxferrix_lab.engine.occurrences import Turn, was_wrong
from rxferrix_lab.engine.program import Program
from rxferrix_lab.engine.writer import Answer, Request
from rxferrix_lab.storage.transaction import Transaction

LEAP = timedelta(seconds=60)  # contract 5.6
TRY_AGAIN = timedelta(seconds=60)


class Ticker:
    """Knows when each cron runs next. Owned by the engine's loop; the rows belong to the writer."""

    def __init__(self, program: Program, clock: Clock, submit: Submit) -> None:
        self._program = program
        self._clock = clock
        self._submit = submit
        self._crons: dict[str, CronRecord] = {}
        self._is_ticking = False
        self.is_stopped = False
        self._absent_until: dict[str, datetime] = {}  # occurrences before it passed unseen

    def learn(self, stored: Mapping[str, CronRecord], now: datetime) -> None:
        """Take over the stored crons; nobody looked after those awake for the first time."""
        self._crons = dict(stored)
        for cron in self._awake():
            self._absent_until.setdefault(cron.name, now)

    def clock_leapt(self, now: datetime) -> None:
        """Nobody looked after any cron while the clock leapt, ahead or back, to `now`."""
        self._absent_until = dict.fromkeys(self._absent_until, now)

    @property
    def crons(self) -> Mapping[str, CronRecord]:
        """The crons as they were at the last commit that touched one."""
        return self._crons

    def is_dormant(self, name: str) -> bool:
        """Whether no cell has declared the stored cron yet."""
        return name not in self._program.crons

    def next_instant(self) -> datetime | None:
        """When the next cron has something to do."""
        if self.is_stopped or self._is_ticking:
            return None
        return min((cron.next_run_at for cron in self._awake() if cron.next_run_at), default=None)

    def tick(self, now: datetime) -> None:
        """Hand in the crons that have something to do, in order of their next runs."""
        if self._is_ticking or self.is_stopped:
            return
        due = [cron for cron in self._awake() if _has_work(cron, now)]
        if not due:
            return
        places = {name: place for place, name in enumerate(tuple(self._program.crons))}
        due.sort(key=lambda cron: (cron.next_run_at or now, places.get(cron.name, 0)))
        self._is_ticking = True
        self._submit(*(self._request(cron, is_last=cron is due[-1]) for cron in due))

    def _awake(self) -> Iterable[CronRecord]:
        return (
            cron
            for cron in self._crons.values()
            if not cron.paused and not self.is_dormant(cron.name)
        )

    def _request(self, known: CronRecord, *, is_last: bool) -> Request:
        """A request of its own for each cron, so that a broken one never stops the others."""
        name = known.name

        def body(transaction: Transaction) -> CronRecord | None:
            now = self._clock.now()
            turn = Turn(transaction, self._program, now)
            # A tick that comes late did not look after what passed before it, for whatever reason.
            return turn.take(name, max(self._absent_until.get(name, now), now - LEAP))

        def failed(transaction: Transaction, error: BaseException) -> None:
            detail = f"{name}: it could not be run, and is tried again in a minute: {error}"
            transaction.log(notice(self._program, known, detail, self._clock.now()))

        def landed(answer: Answer) -> None:
            if answer.error is not None:
                self._try_again_later(name)
            elif isinstance(answer.value, CronRecord):
                self._crons[name] = answer.value
            else:
                self._crons.pop(name, None)
            self._is_ticking = self._is_ticking and not is_last

        jobs = () if known.last_job is None else (known.last_job,)
        return Request(body, failed=failed, landed=landed, jobs=jobs, persists=True)

    def _try_again_later(self, name: str) -> None:
        cron = self._crons.get(name)
        if cron is not None:
            now = self._clock.now()
            self._crons[name] = replace(cron, next_run_at=now + TRY_AGAIN, seen_until=now)


def _has_work(cron: CronRecord, now: datetime) -> bool:
    is_due = cron.next_run_at is not None and cron.next_run_at <= now
    return is_due or was_wrong(cron, now)
