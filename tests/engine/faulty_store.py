"""A real store whose COMMIT fails on request, in the ways in which DuckDB's does."""

from collections import deque
from enum import Enum
from pathlib import Path

import duckdb

from rxferrix_lab.storage.store import Store
from rxferrix_lab.storage.transaction import Transaction


class Fault(Enum):
    """How a COMMIT fails."""

    NONE = "it does not"
    DISK_FULL = "nothing was written, and the instance is sound"
    LOST_BEFORE = "the instance is lost, and nothing was durable"
    LOST_AFTER = "the instance is lost, and everything was durable"


class FaultyTransaction(Transaction):
    """Commits, or fails as it was told."""

    faults: deque[Fault]

    def finish(self) -> frozenset[str]:
        fault = self.faults.popleft() if self.faults else Fault.NONE
        match fault:
            case Fault.NONE:
                return super().finish()
            case Fault.DISK_FULL:
                self.rollback()
                raise duckdb.TransactionException(
                    "Failed to commit: Could not write all bytes to file: No space left on device"
                )
            case Fault.LOST_BEFORE:
                self.rollback()
                raise duckdb.FatalException("database has been invalidated before the commit")
            case Fault.LOST_AFTER:
                super().finish()
                raise duckdb.FatalException("database has been invalidated after the commit")


class FaultyStore(Store):
    """Fails the commits to come, in order, and the reopens."""

    transactions = FaultyTransaction

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        self.faults: deque[Fault] = deque()
        self.failing_reopens = 0
        self.commits_begun = 0

    def transaction(self) -> Transaction:
        transaction = super().transaction()
        assert isinstance(transaction, FaultyTransaction)
        transaction.faults = self.faults
        self.commits_begun += 1
        return transaction

    def fail(self, *faults: Fault) -> None:
        """Let the next commits fail like this."""
        self.faults.extend(faults)

    def reopen(self) -> None:
        if self.failing_reopens:
            self.failing_reopens -= 1
            self.disconnect()
            raise duckdb.IOException("No space left on device")
        super().reopen()
