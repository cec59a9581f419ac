"""Makes the tables that an app declares. Never touches one that is there."""

import duckdb

from rxferrix_lab.errors import ForbiddenStatementError, ReservedTableError, TableError
from rxferrix_lab.storage.catalog import quoted
from rxferrix_lab.storage.statements import inspect


def make_table(connection: duckdb.DuckDBPyConnection, name: str, columns: str) -> None:
    """Make a table with a BIGINT id and these columns, which are SQL.

    Raises:
        TableError: if they do not make exactly one table.
    """
    more = f", {columns}" if columns.strip() else ""
    # The line's end closes a comment in the columns.
    statement = f"CREATE TABLE {quoted(name)} (id BIGINT NOT NULL{more}\n)"
    try:
        inspect(statement, connection)
        connection.execute(statement)
    except (
        duckdb.ParserException,
        duckdb.CatalogException,
        duckdb.BinderException,
        ForbiddenStatementError,
        ReservedTableError,
    ) as error:
        problem = f"it cannot be made with the columns {columns!r:.200}, beside its id: {error}"
        raise TableError(name, problem) from error
