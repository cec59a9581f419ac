"""Which tables a statement reads in the end, through views and macros.

Looks names up in the catalog as it is now. Never runs the statement.
"""

from collections.abc import Mapping

import duckdb

from rxferrix_lab.storage.places import names_in


def tables_behind(sql: str, connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The existing tables that ``sql`` may read, lower case, unqualified; an over-approximation.

    Opens its own cursor: the connection's transaction stays as it is, and what that transaction has
    not committed is not seen.
    """
    with connection.cursor() as cursor:
        rows = cursor.execute("SELECT lower(table_name) FROM duckdb_tables() WHERE NOT internal")
        tables = {name for (name,) in rows.fetchall()}
        definitions = _definitions(cursor)
    return _reached(names_in(sql), definitions) & tables


def _definitions(cursor: duckdb.DuckDBPyConnection) -> Mapping[str, list[str]]:
    """The text of every view and macro by name; a macro may have several."""
    found: dict[str, list[str]] = {}
    rows = cursor.execute(
        "SELECT lower(view_name), sql FROM duckdb_views() WHERE NOT internal "
        "UNION ALL SELECT lower(function_name), macro_definition FROM duckdb_functions() "
        "WHERE NOT internal AND macro_definition IS NOT NULL"
    ).fetchall()
    for name, text in rows:
        found.setdefault(name, []).append(text)
    return found


def _reached(first: frozenset[str], definitions: Mapping[str, list[str]]) -> frozenset[str]:
    reached: set[str] = set()
    pending = set(first)
    while pending:
        name = pending.pop()
        reached.add(name)
        for text in definitions.get(name, ()):
            pending |= names_in(text) - reached
    return frozenset(reached)
