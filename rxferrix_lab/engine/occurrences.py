"""What becomes of a cron's occurrence: a job, a skip with its reason, or nothing again.

Everything happens inside the transaction that records it. An occurrence is looked up under its key
(cron, instant) before it becomes a job, so a second look is harmless whatever the clock did.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from rxferrix_lab.domain.cron_record import CronRecord, DeclaredCron
from rxferrix_lab.domain.job import Trigger
from rxferrix_lab.engine import crons
from rxferrix_lab.engine.program import Program
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.storage.transaction import Transaction

WRONG_CLOCK = timedelta(days=1)  # contract 5.6


@dataclass(frozen=True, slots=True)
class Turn:
    """One look at one cron."""

    transaction: Transaction
    program: Program
    now: datetime

    def take(self, name: str, absent_until: datetime) -> CronRecord | None:
        """Do what is due for a cron, and return its row; None where it was removed.

        Args:
            name: of the cron.
            absent_until: occurrences before it passed unseen (contract 5.6).
        """
        cron, declared = self.transaction.crons().get(name), self.program.crons.get(name)
        if cron is None or cron.paused or declared is None:
            return cron
        try:
            cron.schedule()
        except RxFerrixError as error:
            return self._saved(self._repaired(cron, declared, error))
        if was_wrong(cron, self.now):
            return self._saved(self._started_over(cron))
        if cron.next_run_at is None or cron.next_run_at > self.now:
            return cron
        if cron.next_run_at < absent_until:
            return self._saved(self._caught_up(cron, cron.next_run_at))
        return self._saved(self._run(cron.settling(cron.next_run_at), cron.next_run_at, 0))

    def _saved(self, cron: CronRecord) -> CronRecord:
        self.transaction.save_cron(cron.name, cron)
        return cron

    def _repaired(
        self, cron: CronRecord, declared: DeclaredCron, error: RxFerrixError
    ) -> CronRecord:
        return crons.repaired(self.transaction, self.program, cron, declared, error, self.now)

    def _caught_up(self, cron: CronRecord, first: datetime) -> CronRecord:
        """One job for the latest of the occurrences that passed, with their number."""
        latest = cron.latest(self.now)
        if latest is None or latest < first:
            return cron.going_on_from(self.now)
        missed = cron.unsettled(first, latest)
        settled = replace(cron.settling(latest), missed=cron.missed + missed)
        return self._run(settled, latest, missed)

    def _run(self, cron: CronRecord, occurrence: datetime, missed: int) -> CronRecord:
        busy = crons.previous_run(self.transaction, cron)
        if busy is not None:
            detail = (
                f"{cron.name}: the occurrence of {occurrence.isoformat()} was skipped, because the "
                f"previous run (job {busy.id}, {busy.state}) has not ended"
            )
            self._log(cron, detail)
            return replace(cron, skipped=cron.skipped + 1)
        if self.transaction.has_occurrence(cron.name, occurrence):
            return cron
        trigger: Trigger = "catch_up" if missed else "cron"
        return crons.enqueue(
            self.transaction, self.program, cron, occurrence, trigger, self.now, missed
        )[1]

    def _started_over(self, cron: CronRecord) -> CronRecord:
        """The last occurrence lies more than a day ahead: the clock had been wrong."""
        waiting = crons.previous_run(self.transaction, cron)
        if waiting is not None and waiting.state == "pending" and waiting.due_at > self.now:
            self.transaction.save_job(replace(waiting, due_at=self.now))
        again = cron.going_on_from(self.now)
        self._log(
            cron,
            f"{cron.name}: its last occurrence {cron.seen_until.isoformat()} lies more than a day "
            f"ahead of now ({self.now.isoformat()}), so the clock had been wrong; the next run is "
            f"computed from now: {_shown(again.next_run_at)}",
        )
        return again

    def _log(self, cron: CronRecord, detail: str) -> None:
        self.transaction.log(crons.notice(self.program, cron, detail, self.now))


def was_wrong(cron: CronRecord, now: datetime) -> bool:
    """Whether the clock must have been wrong when the cron was looked at last."""
    return cron.seen_until > now + WRONG_CLOCK


def _shown(instant: datetime | None) -> str:
    return instant.isoformat() if instant else "none before the year 9999"
