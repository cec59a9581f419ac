"""A row of the execution log, for tests that need a write that is easy to find again."""

from datetime import UTC, datetime

from rxferrix_lab.domain.log_entry import LogEntry

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def entry(function: str, attempt: int = 1) -> LogEntry:
    """A successful execution of a mutation that the program called."""
    return LogEntry(
        function=function,
        kind="mutation",
        caller="program",
        started_at=NOON,
        finished_at=NOON,
        outcome="succeeded",
        attempt=attempt,
    )
