"""The jobs that match, to take away: as rows, as a Parquet file, and as the SQL that finds them."""

from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import duckdb

from rxferrix_lab.storage.codec import JOBS
from rxferrix_lab.storage.job_search import JobSearch
from rxferrix_lab.storage.rows import Rows

MOST_ROWS = 200_000


def exported_jobs(connection: duckdb.DuckDBPyConnection, search: JobSearch) -> Rows:
    """The jobs that match, newest first, at most 200,000; instants as ISO text in UTC."""
    condition, values = search.condition()
    columns = ", ".join(
        f"""strftime("{name}" AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') AS "{name}\""""
        if at in JOBS.instants
        else f'"{name}"'
        for at, name in enumerate(JOBS.columns)
    )
    found = connection.execute(
        f"""
        SELECT {columns}
        FROM _scheduled_jobs
        WHERE {condition}
        ORDER BY id DESC
        LIMIT {MOST_ROWS}
        """,  # our own names
        values,
    )
    return Rows([column[0] for column in found.description or ()], found.fetchall())


def parquet_of(rows: Rows) -> bytes:
    """The rows as a Parquet file.

    Written by a database of its own in memory, because the app's may not write files.
    """
    with TemporaryDirectory() as folder:
        file = Path(folder) / "jobs.parquet"
        with duckdb.connect(":memory:") as connection:
            connection.register("exported", rows.df())
            connection.execute(f"COPY exported TO '{file}' (FORMAT parquet)")  # a path of ours
        return file.read_bytes()


def sql_of(search: JobSearch) -> str:
    """A statement that finds the same jobs, for `app.sql` and for DuckDB's own shell."""
    condition, values = search.condition()
    for name in sorted(values, key=len, reverse=True):
        condition = condition.replace(f"${name}", _literal(values[name]))
    tidy = "\n    AND ".join(" ".join(part.split()) for part in condition.split(" AND "))
    return f"SELECT *\nFROM _scheduled_jobs\nWHERE {tidy}\nORDER BY id DESC;\n"


def _literal(value: object) -> str:
    if isinstance(value, datetime):
        return f"TIMESTAMPTZ '{value.isoformat()}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, list):
        return "[" + ", ".join(_literal(str(each)) for each in cast("list[object]", value)) + "]"
    return str(value)
