"""What a mutation does to the user's own tables: SQL, and the buffered verbs.

Writes by the verbs are held back in the request's layer; a statement that reads or writes such a
table sees them, because they are sent first. A database error loses the whole transaction, so it
is noted on the layer, where a mutation that swallowed it is found out.
"""

import copy
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any

import duckdb

from rxferrix_lab.errors import TableError, UnknownRowError
from rxferrix_lab.storage.buffered_rows import BufferedRows, RowConflictError, Values
from rxferrix_lab.storage.catalog import TableShape, check_writable, quoted
from rxferrix_lab.storage.ids import (
    IdSequence,
    begin_above_largest,
    is_id,
    step_over_rows,
)
from rxferrix_lab.storage.rows import Rows
from rxferrix_lab.storage.statements import Statement, inspect
from rxferrix_lab.storage.tokens import has_word_at, tokens_of
from rxferrix_lab.storage.transaction import Transaction

# Values that nobody can change after the verb has returned; all others are copied.
_UNCHANGING = (type(None), bool, int, float, str, bytes)


def run_statement(
    connection: duckdb.DuckDBPyConnection, query: str, params: Mapping[str, object]
) -> Rows:
    """Run one statement and fetch all of it, so that nothing stays open."""
    result = connection.execute(query, dict(params)) if params else connection.execute(query)
    description = result.description or []
    columns = [column[0] for column in description]
    return Rows(columns, result.fetchall())


class UserTables:
    """The verbs of `ctx.db` in one mutation."""

    def __init__(self, transaction: Transaction) -> None:
        self._transaction = transaction

    def sql(self, query: str, params: Mapping[str, object]) -> Rows:
        """Run a statement that reads or writes.

        See `statements.inspect` for what is let through.
        """
        with self._noting_errors():
            statement = inspect(query, self._transaction.connection)
            self._send_what_it_sees(statement)
            layer = self._transaction.layer
            if statement.kind != "read":
                layer.was_sent = True
                layer.tables |= statement.writes
            rows = run_statement(self._transaction.connection, query, params)
            self._after(statement, query)
        return _counted(rows) if statement.kind == "write" else rows

    def get(self, table: str, row: int) -> dict[str, Any] | None:
        """The row, or None where there is none."""
        with self._noting_errors():
            shape = self._transaction.catalog.shape(table)
            if shape.name.startswith("_"):
                self._transaction.send_scheduler_rows()
            self._send(shape.name.lower())
            return get_row(self._transaction.connection, shape, row)

    def insert(self, table: str, row: Mapping[str, object]) -> int:
        """Add a row and return its id, drawn where the row has none."""
        with self._noting_errors():
            shape = self._writable(table)
            values = _named(shape, row)
            buffered = self._buffer(shape)
            given = values.pop("id", None)
            if given is None:
                drawn = self._ids(shape).draw()
            else:
                drawn = self._given_id(shape, given)
                buffered.given.add(drawn)
            buffered.inserts[drawn] = values
            self._written(shape)
            return drawn

    def patch(self, table: str, row: int, changes: Mapping[str, object]) -> None:
        """Change columns of a row."""
        with self._noting_errors():
            shape = self._writable(table)
            values = _named(shape, changes)
            if "id" in values:
                raise TableError(shape.name, "patch cannot change an id; delete and insert instead")
            self._refuse_deleted(shape, _row_id(shape, row))
            if values:
                self._buffer(shape).patch(row, values)
                self._written(shape)

    def delete(self, table: str, row: int) -> None:
        """Take a row out."""
        with self._noting_errors():
            shape = self._writable(table)
            self._refuse_deleted(shape, _row_id(shape, row))
            if self._is_owed(shape, row):
                self._send(shape.name.lower())
            self._buffer(shape).deletes.add(row)
            self._written(shape)

    # --- below ----------------------------------------------------------------------------------
    @contextmanager
    def _noting_errors(self) -> Generator[None, None, None]:
        try:
            yield
        except RowConflictError as error:
            self._transaction.layer.broken = error.error
            raise error.error from None
        except Exception as error:
            self._transaction.layer.broken = error
            raise

    def _writable(self, table: str) -> TableShape:
        check_writable(table)
        return self._transaction.catalog.shape(table)

    def _buffer(self, shape: TableShape) -> BufferedRows:
        rows = self._transaction.layer.rows
        key = shape.name.lower()
        buffered = rows.get(key)
        if buffered is None:
            buffered = rows[key] = BufferedRows(shape)
        return buffered

    def _written(self, shape: TableShape) -> None:
        if self._transaction.layer.writes_through:
            self._send(shape.name.lower())

    def _ids(self, shape: TableShape) -> IdSequence:
        """The table's ids; of a table that was made after the start, they begin where it stands."""
        transaction, key = self._transaction, shape.name.lower()
        if key not in transaction.sequences:
            begin_above_largest(transaction.connection, shape.name, transaction.sequence(key))
        return transaction.sequence(key)

    def _owed(self, shape: TableShape) -> list[BufferedRows]:
        key = shape.name.lower()
        layers = (self._transaction.base, self._transaction.layer)
        return [layer.rows[key] for layer in layers if key in layer.rows]

    def _is_owed(self, shape: TableShape, row: int) -> bool:
        return any(owed.touches(row) for owed in self._owed(shape))

    def _refuse_deleted(self, shape: TableShape, row: int) -> None:
        if any(row in owed.deletes for owed in self._owed(shape)):
            raise UnknownRowError(shape.name, row)

    def _given_id(self, shape: TableShape, given: object) -> int:
        row = _row_id(shape, given)
        if any(row in owed.inserts for owed in self._owed(shape)):
            raise TableError(shape.name, f"it has a row {row} already")
        if self._is_owed(shape, row):
            self._send(shape.name.lower())
        self._ids(shape).step_over(row)
        return row

    def _send(self, key: str) -> None:
        """Send what is held back for one table."""
        for layer in (self._transaction.base, self._transaction.layer):
            owed = layer.rows.get(key)
            if owed is not None and not owed.is_empty:
                layer.was_sent = True
                owed.write(self._transaction.connection)

    def _send_what_it_sees(self, statement: Statement) -> None:
        seen = statement.reads
        held = self._transaction.base.rows.keys() | self._transaction.layer.rows.keys()
        if seen is None or statement.kind == "ddl" or not seen <= self._plain_tables(seen):
            keys = set(held)
            reads_scheduler = True
        else:
            keys = held & (seen | statement.writes)
            reads_scheduler = any(name.startswith("_") for name in seen)
        for key in sorted(keys):
            self._send(key)
        if reads_scheduler:
            self._transaction.send_scheduler_rows()

    def _plain_tables(self, names: frozenset[str]) -> frozenset[str]:
        """Those of the names that are tables, not views that read who knows what."""
        return self._transaction.catalog.plain_tables(names)

    def _after(self, statement: Statement, query: str) -> None:
        """SQL may have brought ids along that must not be drawn again."""
        if statement.kind == "ddl":
            self._after_definition(statement, query)
            return
        for table in statement.writes:
            if table in self._transaction.sequences:
                self._step_over(table)

    def _after_definition(self, statement: Statement, query: str) -> None:
        self._transaction.catalog.forget()
        # What a view or a macro reads may have changed with it, so every subscription looks again.
        self._transaction.layer.tables.add("*")
        sequences = self._transaction.sequences
        known = [sequences[table] for table in statement.writes if table in sequences]
        for table in statement.writes:
            if table in sequences:
                self._step_over(table)
            elif known and has_word_at(tokens_of(query), 0, "alter"):
                # A renamed table takes along which of its ids were drawn.
                self._transaction.sequence(table).next_id = max(ids.next_id for ids in known)
                self._step_over(table)

    def _step_over(self, table: str) -> None:
        shape = self._transaction.catalog.shape_if_any(table)
        if shape is not None:
            ids = self._transaction.sequence(table)
            step_over_rows(self._transaction.connection, shape.name, ids)


def get_row(
    connection: duckdb.DuckDBPyConnection, shape: TableShape, row: int
) -> dict[str, Any] | None:
    """The row of this id by column name, or None where there is none."""
    found = run_statement(
        connection,
        f"SELECT * FROM {quoted(shape.name)} WHERE id = $id",  # quoted
        {"id": _row_id(shape, row)},
    )
    return found.dicts()[0] if len(found) else None


def _named(shape: TableShape, row: Mapping[str, object]) -> Values:
    """The values by the columns' own names.

    Raises:
        TableError: if the table has no such column, or one is given twice.
    """
    if not isinstance(row, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TableError(shape.name, f"a row is given as column names to values, not {row!r:.60}")
    values: Values = {}
    for column, value in row.items():
        name = shape.columns.get(column) or shape.columns.get(str(column).lower())
        if name is None:
            known = ", ".join(shape.columns.values())
            raise TableError(shape.name, f"it has no column {column!r} (it has: {known})")
        if name in values:
            raise TableError(shape.name, f"the column {name} is given twice: case tells none apart")
        values[name] = value if isinstance(value, _UNCHANGING) else copy.deepcopy(value)
    return values


def _row_id(shape: TableShape, row: object) -> int:
    if not is_id(row):
        raise TableError(shape.name, f"an id is a whole number that fits a BIGINT, not {row!r:.60}")
    return row


def _counted(rows: Rows) -> Rows:
    """INSERT, UPDATE and DELETE answer with one row that is their count.

    Unless RETURNING is asked.
    """
    if rows.columns == ["Count"] and len(rows) == 1:
        return Rows([], [], rowcount=rows.scalar())
    return rows
