"""Many rows through one appender, all of them or none.

An appender that is dropped with rows in it loses them without an error, so one that failed is
emptied here, and one that did not is flushed. Begins and ends no transaction.
"""

from collections.abc import Iterable, Sequence
from typing import Literal

import duckdb


def append(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    rows: Iterable[Sequence[object]],
    *,
    columns: Sequence[str] | None = None,
    action: Literal["insert", "update", "delete"] = "insert",
    key: Sequence[str] | None = None,
) -> None:
    """Send the rows inside the open transaction.

    Raises:
        duckdb.Error: if one does not fit; the transaction is lost then.
    """
    appender = connection.appender(
        table,
        columns=list(columns) if columns is not None else None,
        action=action,
        key=list(key) if key is not None else None,
    )
    try:
        appender.append_rows(rows)
        appender.flush()
    except BaseException:
        appender.clear()
        raise
