"""Files that SQL would open because a table has the name of one.

``FROM 'x.csv'``, ``FROM "x.csv"`` and ``FROM x.csv`` all read a file, and ``FROM 'app.duckdb'``
would open the app's own file a second time. Text that only looks like a path stays allowed where no
table stands.
"""

import json
import re
from collections.abc import Iterator
from typing import cast

import duckdb

from rxferrix_lab.errors import ForbiddenStatementError
from rxferrix_lab.storage.places import SURELY_BEFORE_A_TABLE, table_places
from rxferrix_lab.storage.tokens import Token, has_word_at

_FILE = re.compile(
    r"\.(csv|tsv|txt|json|jsonl|ndjson|geojson|parquet|db|ddb|duckdb|xlsx|avro|arrow|vortex|lance)"
    r"(\.\w+)?(\?.*)?$|^\w{2,}://",
    re.IGNORECASE | re.DOTALL,
)


def refuse_files(sql: str, body: list[Token], connection: duckdb.DuckDBPyConnection) -> None:
    """Refuse a table that DuckDB would look for on the disk.

    Raises:
        ForbiddenStatementError: if a name like that of a file stands where a table stands.
    """
    named = [(token, ".".join(parts)) for token, parts in table_places(body)]
    suspects = [(token, name) for token, name in named if _FILE.search(name)]
    if not suspects:
        return
    found = [name for token, name in suspects if token.text in SURELY_BEFORE_A_TABLE]
    if not found:
        tables = _base_tables(sql, connection)
        if tables is not None:
            found = [name for _, name in suspects if name in tables]
        elif any(has_word_at(body, index, "from", "join") for index in range(len(body))):
            # No tree of this statement. Without FROM or JOIN no comma stands between tables.
            found = [name for _, name in suspects]
    if found:
        raise ForbiddenStatementError(
            sql,
            f"{found[0]!r} is read as a file where a table stands, and a function reads no files",
        )


def _base_tables(sql: str, connection: duckdb.DuckDBPyConnection) -> set[str] | None:
    """The tables that DuckDB's parser finds, dotted; None where it gives no tree. Slow, exact."""
    with connection.cursor() as cursor:
        # There is a tree of a SELECT only, but as its CTE INSERT, UPDATE and DELETE have one too.
        for text in (sql, f"WITH statement AS ({sql.rstrip().rstrip(';')}\n) SELECT 1"):
            row = cursor.execute("SELECT json_serialize_sql($1::VARCHAR)", [text]).fetchall()[0]
            tree = cast("dict[str, object]", json.loads(row[0]))
            if not tree["error"]:
                return set(_tables_in(tree))
    return None


def _tables_in(tree: dict[str, object]) -> Iterator[str]:
    pending: list[object] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(cast("list[object]", node))
        elif isinstance(node, dict):
            fields = cast("dict[str, object]", node)
            pending.extend(fields.values())
            if fields.get("type") == "BASE_TABLE":
                name = cast("dict[str, list[str]]", fields["qualified_name"])
                yield ".".join(name["path"])
