"""Rows that a mutation inserted, patched or deleted, held back until they are written together.

One `BufferedRows` holds what one layer of a transaction owes one table. Knows no order between
transactions: its owner asks for a flush where two writes of one row could not be merged.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import duckdb

from rxferrix_lab.errors import TableError, UnknownRowError
from rxferrix_lab.storage.appending import append
from rxferrix_lab.storage.catalog import TableShape, quoted

Values = dict[str, object]


class RowConflictError(Exception):
    """A buffered write does not fit the table; says which row, so that its owner can be found."""

    def __init__(self, table: str, row: int, error: TableError | UnknownRowError) -> None:
        super().__init__(str(error))
        self.table = table
        self.row = row
        self.error = error


@dataclass(slots=True)
class BufferedRows:
    """What is owed to one table."""

    shape: TableShape
    inserts: dict[int, Values] = field(default_factory=dict)
    patches: dict[int, Values] = field(default_factory=dict)
    deletes: set[int] = field(default_factory=set)
    given: set[int] = field(default_factory=set)  # inserted under an id that the caller chose

    def touches(self, row: int) -> bool:
        """Whether anything is owed to the row."""
        return row in self.inserts or row in self.patches or row in self.deletes

    @property
    def is_empty(self) -> bool:
        """Whether nothing is owed."""
        return not (self.inserts or self.patches or self.deletes)

    def absorb(self, later: "BufferedRows") -> None:
        """Take over what a later layer owes; its owner made sure that the two can be merged."""
        self.inserts.update(later.inserts)
        self.given |= later.given
        self.deletes |= later.deletes
        for row, changes in later.patches.items():
            self.patch(row, changes)

    def patch(self, row: int, changes: Values) -> None:
        """Change a row that is owed as an insert or a patch, or owe a new patch."""
        owed = self.inserts.get(row)
        if owed is None:
            owed = self.patches.setdefault(row, {})
        owed.update(changes)

    def write(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write all that is owed inside the open transaction, and owe nothing.

        Raises:
            RowConflictError: if a patched or deleted row is not there, or a given id is taken.
            duckdb.Error: if a value does not fit its column.
        """
        self._check(connection)
        name = self.shape.name
        for columns, rows in _by_columns(self.inserts):
            append(connection, name, rows, columns=["id", *columns])
        for columns, rows in _by_columns(self.patches):
            append(connection, name, rows, columns=["id", *columns], action="update", key=["id"])
        if self.deletes:
            gone = [(row,) for row in sorted(self.deletes)]
            append(connection, name, gone, action="delete", key=["id"])
        self.clear()

    def clear(self) -> None:
        """Owe nothing."""
        self.inserts.clear()
        self.patches.clear()
        self.deletes.clear()
        self.given.clear()

    def _check(self, connection: duckdb.DuckDBPyConnection) -> None:
        """An appender says nothing of an unknown key, so the rows are looked up first."""
        name = self.shape.name
        changed = self.patches.keys() | self.deletes
        if changed:
            missing = changed - _existing(connection, name, changed)
            if missing:
                row = min(missing)
                raise RowConflictError(name, row, UnknownRowError(name, row))
        if self.given:
            taken = _existing(connection, name, self.given)
            if taken:
                row = min(taken)
                raise RowConflictError(name, row, TableError(name, f"it has a row {row} already"))


def _existing(connection: duckdb.DuckDBPyConnection, table: str, ids: Iterable[int]) -> set[int]:
    rows: list[tuple[Any, ...]] = connection.execute(
        f"SELECT id FROM {quoted(table)} WHERE id IN (SELECT unnest($ids::BIGINT[]))",
        {"ids": list(ids)},
    ).fetchall()
    return {row for (row,) in rows}


def _by_columns(
    owed: dict[int, Values],
) -> Iterable[tuple[tuple[str, ...], list[tuple[object, ...]]]]:
    """The rows by the columns they name, since an appender takes one list of columns."""
    groups: dict[tuple[str, ...], list[tuple[object, ...]]] = {}
    for row, values in owed.items():
        groups.setdefault(tuple(values), []).append((row, *values.values()))
    return groups.items()
