"""`ctx.db`: the user's tables, as a query or a mutation sees them."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from rxferrix_lab.errors import ForbiddenStatementError
from rxferrix_lab.storage.rows import Rows
from rxferrix_lab.storage.snapshot import Snapshot
from rxferrix_lab.storage.user_tables import UserTables


class Reads(Protocol):
    """What both sides can do."""

    def sql(self, query: str, params: Mapping[str, object]) -> Rows:
        """Run one statement."""
        ...

    def get(self, table: str, row: int) -> dict[str, Any] | None:
        """The row of this id."""
        ...


class Database:
    """Reads in a query; reads and writes in a mutation, as part of its transaction."""

    __slots__ = ("_check", "_side")

    def __init__(self, side: Snapshot | UserTables, check: Callable[[], None]) -> None:
        self._side = side
        self._check = check

    def sql(self, query: str, /, **params: object) -> Rows:
        """Run one statement and fetch all of it; `$name` in it is filled from the keywords.

        Raises:
            ForbiddenStatementError: for a statement that contract 1.6 does not name, or any write
                in a query.
            ReservedTableError: for a write to the scheduler's tables.
            duckdb.Error: as the database says. It loses the mutation, also where it is swallowed.
        """
        self._check()
        return self._side.sql(query, params)

    def get(self, table: str, id: int) -> dict[str, Any] | None:  # the public name
        """The row of this id by column name, or None; costs a read.

        Raises:
            TableError: if there is no such table, or it has no BIGINT column `id`.
        """
        self._check()
        return self._side.get(table, id)

    def insert(self, table: str, row: Mapping[str, object]) -> int:
        """Add a row and return its id, which is drawn where the row has none.

        Raises:
            TableError: for an unknown table or column, or an id that is taken.
            ReservedTableError: for a table of the scheduler's.
        """
        return self._writes("insert").insert(table, row)

    def patch(self, table: str, id: int, changes: Mapping[str, object]) -> None:
        """Change columns of a row.

        Raises:
            UnknownRowError: at the latest at the commit, if there is no such row.
            TableError: for an unknown table or column.
        """
        self._writes("patch").patch(table, id, changes)

    def delete(self, table: str, id: int) -> None:
        """Take a row out.

        Raises:
            UnknownRowError: at the latest at the commit, if there is no such row.
        """
        self._writes("delete").delete(table, id)

    def _writes(self, verb: str) -> UserTables:
        self._check()
        if not isinstance(self._side, UserTables):
            raise ForbiddenStatementError(verb, "a query only reads; write in a mutation")
        return self._side
