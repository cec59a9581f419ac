"""Schedules become jobs.

Reads schedules, makes jobs, never runs one. An occurrence is looked up under its key (cron,
instant) before it becomes a job, so a second look is harmless whatever the clock did.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.job import Trigger
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.engine import crons
from rxferrix_lab.engine.attempts import Submit
from rxferrix_lab.engine.clock import Clock
from rxferrix_lab.engine.program import Program
from rxferrix_lab.engine.writer import Answer, Request
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.storage.transaction import Transaction

LEAP = timedelta(seconds=60)  # contract 5.6
WRONG_CLOCK = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)


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
        """Take over the stored crons.

        Nobody looked after those that are awake for the first time.
        """
        self._crons = dict(stored)
        for cron in self._awake():
            self._absent_until.setdefault(cron.name, now)

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
        """Hand in the crons that have something to do."""
        if self._is_ticking or self.is_stopped:
            return
        due = [cron.name for cron in self._awake() if _has_work(cron, now)]
        if due:
            self._is_ticking = True
            self._submit(
                *(self._request(name, is_last=name == due[-1]) for name in due),
            )

    def _awake(self) -> Iterable[CronRecord]:
        return (
            cron
            for cron in self._crons.values()
            if not cron.paused and not self.is_dormant(cron.name)
        )

    def _request(self, name: str, *, is_last: bool) -> Request:
        """A request of its own for each cron, so that a broken one never stops the others."""

        def body(transaction: Transaction) -> CronRecord | None:
            cron = transaction.crons().get(name)
            if cron is None or cron.paused:
                return cron
            self._advance(transaction, cron, self._clock.now())
            return transaction.crons().get(name)

        def failed(transaction: Transaction, error: BaseException) -> None:
            self._give_up_for_now(transaction, name, error)

        def landed(answer: Answer) -> None:
            if isinstance(answer.value, CronRecord):
                self._crons[name] = answer.value
            elif answer.error is not None and name in self._crons:
                self._crons[name] = replace(self._crons[name], next_run_at=None)
            self._is_ticking = self._is_ticking and not is_last

        return Request(body, failed=failed, landed=landed, persists=True)

    # --- inside the transaction -----------------------------------------------------------------
    def _advance(self, transaction: Transaction, cron: CronRecord, now: datetime) -> None:
        if _was_wrong(cron, now):
            self._start_over(transaction, cron, now)
            return
        occurrence = cron.next_run_at
        if occurrence is None or occurrence > now:
            return
        absent_until = self._absent_until.get(cron.name, occurrence)
        was_absent = occurrence < absent_until or now - occurrence > LEAP
        schedule = cron.schedule()
        missed = 0
        if was_absent:
            missed = schedule.count(occurrence - MICROSECOND, now)
            occurrence = schedule.previous_instant(now) or occurrence
        following = schedule.next_instant(occurrence)
        moved = replace(
            cron,
            next_run_at=following,
            missed=cron.missed + missed,
            latest_occurrence=occurrence,
        )
        self._run_or_skip(transaction, moved, occurrence, missed, now)

    def _run_or_skip(
        self,
        transaction: Transaction,
        cron: CronRecord,
        occurrence: datetime,
        missed: int,
        now: datetime,
    ) -> None:
        busy = crons.previous_run(transaction, cron)
        if busy is not None:
            detail = (
                f"{cron.name}: the occurrence of {occurrence.isoformat()} was skipped, because the "
                f"previous run (job {busy.id}, {busy.state}) has not ended"
            )
            transaction.save_cron(cron.name, replace(cron, skipped=cron.skipped + 1))
            transaction.log(self._skip(cron, detail, now))
        elif transaction.has_occurrence(cron.name, occurrence):
            transaction.save_cron(cron.name, cron)
        else:
            trigger: Trigger = "catch_up" if missed else "cron"
            crons.enqueue(transaction, self._program, cron, occurrence, trigger, now, missed)

    def _start_over(self, transaction: Transaction, cron: CronRecord, now: datetime) -> None:
        """The last occurrence lies more than a day ahead.

        The clock had been wrong (contract 5.6).
        """
        detail = (
            f"{cron.name}: its last occurrence {_shown(cron.latest_occurrence)} lies more than "
            "a day "
            f"ahead of now ({now.isoformat()}), so the clock had been wrong; the next run is "
            "computed "
            "from now"
        )
        following = cron.schedule().next_instant(now)
        transaction.save_cron(
            cron.name, replace(cron, next_run_at=following, latest_occurrence=None)
        )
        transaction.log(self._skip(cron, detail, now))

    def _give_up_for_now(self, transaction: Transaction, name: str, error: BaseException) -> None:
        """A row that cannot be read stops this cron until it is declared again, and says so."""
        cron = self._crons[name]
        now = self._clock.now()
        detail = f"{name}: its schedule cannot be read, declare it again: {error}"
        if isinstance(error, RxFerrixError):
            transaction.save_cron(name, replace(cron, next_run_at=None))
        transaction.log(self._skip(cron, detail, now))

    def _skip(self, cron: CronRecord, detail: str, now: datetime) -> LogEntry:
        is_action = self._program.action(cron.function) is not None
        return LogEntry(
            function=cron.function,
            kind="action" if is_action else "mutation",
            caller="scheduler",
            started_at=now,
            finished_at=now,
            outcome="skipped",
            attempt=0,
            detail=detail,
        )


def _has_work(cron: CronRecord, now: datetime) -> bool:
    is_due = cron.next_run_at is not None and cron.next_run_at <= now
    return is_due or _was_wrong(cron, now)


def _was_wrong(cron: CronRecord, now: datetime) -> bool:
    latest = cron.latest_occurrence
    return latest is not None and latest > now + WRONG_CLOCK


def _shown(instant: datetime | None) -> str:
    return instant.isoformat() if instant else ""
