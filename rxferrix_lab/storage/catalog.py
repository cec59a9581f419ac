"""What tables and columns there are, remembered until somebody changes them."""

from dataclasses import dataclass

import duckdb

from rxferrix_lab.errors import ReservedTableError, TableError


@dataclass(frozen=True, slots=True)
class TableShape:
    """A user's table as the buffered verbs need it."""

    name: str  # as created
    columns: dict[str, str]  # by lower-case name: as created, but the id always in lower case


class Catalog:
    """The user's tables of one database. Owned by the thread of its connection."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._shapes: dict[str, TableShape] = {}
        self._tables: frozenset[str] | None = None

    def forget(self) -> None:
        """Look again: a table was made, changed or dropped, or a transaction was rolled back."""
        self._shapes.clear()
        self._tables = None

    def plain_tables(self, names: frozenset[str]) -> frozenset[str]:
        """Those of the names, in lower case, that are tables and not views."""
        if self._tables is None:
            rows = self._connection.execute(
                "SELECT lower(table_name) FROM duckdb_tables() WHERE schema_name = 'main'"
            )
            self._tables = frozenset(name for (name,) in rows.fetchall())
        return names & self._tables

    def shape_if_any(self, table: str) -> TableShape | None:
        """The table's shape, or None where there is no such table with a BIGINT id."""
        try:
            return self.shape(table)
        except TableError:
            return None

    def shape(self, table: object) -> TableShape:
        """The table's shape.

        Raises:
            TableError: if there is no such table, or it has no column `id` of type BIGINT.
        """
        if not isinstance(table, str):
            raise TableError(repr(table)[:60], "a table is named by text")
        shape = self._shapes.get(table)
        if shape is None:
            shape = self._look_up(table)
            self._shapes[table] = shape
        return shape

    def _look_up(self, table: str) -> TableShape:
        rows = self._connection.execute(
            """
            SELECT c.table_name, c.column_name, c.data_type
            FROM duckdb_columns() AS c
            JOIN duckdb_tables() AS t USING (database_name, schema_name, table_name)
            WHERE lower(c.table_name) = lower($table) AND c.schema_name = 'main'
                AND c.database_name = current_database()
            ORDER BY c.column_index
            """,
            {"table": table},
        ).fetchall()
        if not rows:
            raise TableError(table, f'there is none; make it with app.table("{table}", "…") or SQL')
        types = {column.lower(): data_type for _, column, data_type in rows}
        if types.get("id") != "BIGINT":
            raise TableError(table, "insert, get, patch and delete need a column id of type BIGINT")
        columns = {column.lower(): column for _, column, _ in rows}
        return TableShape(rows[0][0], columns | {"id": "id"})


def check_writable(table: object) -> None:
    """Refuse a name that belongs to the scheduler.

    Raises:
        ReservedTableError: if the name begins with an underscore.
    """
    if isinstance(table, str) and table.startswith("_"):
        raise ReservedTableError(table)


def quoted(identifier: str) -> str:
    """The identifier as SQL takes it, whatever is in it."""
    return '"' + identifier.replace('"', '""') + '"'
