"""All that can be said of a job at one moment: its row, its attempts, what it prints and tells."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from rxferrix_lab.domain.job import Job, JobId, job_of
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.errors import UnknownJobError
from rxferrix_lab.storage.job_attempts import attempts_of

if TYPE_CHECKING:
    from rxferrix_lab.app.runtime import Runtime
    from rxferrix_lab.domain.job import JobRecord


@dataclass(frozen=True, slots=True)
class Progress:
    """How far an action said it is."""

    done: float
    total: float
    note: str

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return min(max(self.done / self.total, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class JobGlance:
    """What one look at a job found."""

    job: Job
    attempts: tuple[LogEntry, ...]  # that have ended, oldest first
    output: str  # of the attempt that runs, else of the last; empty where nothing was printed
    progress: Progress | None  # of the same attempt; null where none was told
    now: datetime

    @property
    def is_finished(self) -> bool:
        """Whether nothing will change any more."""
        return self.job.finished_at is not None


def glance(runtime: Runtime, job: JobId) -> JobGlance:
    """Look at a job.

    Raises:
        UnknownJobError: if there is none.
    """
    engine = runtime.engine

    def look() -> tuple[JobRecord | None, list[LogEntry]]:
        with engine.store.snapshot() as snapshot:
            return snapshot.job(job), snapshot.ask(attempts_of, job)

    record, entries = runtime.read_soon(look).result()
    if record is None:
        raise UnknownJobError(job)
    attempts = tuple(entry for entry in entries if entry.function == record.function)
    running = engine.attempts.of_job(job)
    if running is not None:
        output, told = "".join(running.output), running.progress
    else:
        last = attempts[-1] if attempts else None
        output, told = (last.output or "", last.progress) if last is not None else ("", None)
    return JobGlance(job_of(record), attempts, output, _progress(told), engine.clock.now())


def _progress(told: str | None) -> Progress | None:
    if told is None:
        return None
    fields: dict[str, Any] = json.loads(told)
    return Progress(float(fields["done"]), float(fields["total"]), str(fields["note"]))
