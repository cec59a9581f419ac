"""One row of `_execution_log`: an execution of a mutation or an action, or what an operator did."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from rxferrix_lab.domain.job import JobId, JobKind
from rxferrix_lab.domain.outcome import JobError

Caller = Literal["scheduler", "user", "program", "operator"]
Outcome = Literal["succeeded", "failed", "canceled", "skipped"]


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One row of `_execution_log`; its id is drawn when it is written."""

    function: str
    kind: JobKind | None  # null for an operator's row
    caller: Caller
    started_at: datetime
    finished_at: datetime
    outcome: Outcome
    job: JobId | None = None  # null for a call made outside the scheduler
    identity: str | None = None  # the subject; null for scheduled functions and the program
    attempt: int = 1
    error: JobError | None = None  # set iff the outcome is failed
    detail: str | None = None  # why it was skipped, what an operator changed
    output: str | None = None  # what the attempt printed and logged; null where nothing
    progress: str | None = None  # the last progress as JSON; null where none was told
