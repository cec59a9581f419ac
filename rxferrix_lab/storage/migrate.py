"""Brings a database to the schema that this version writes, forwards only.

A step is a SQL script run in one transaction with the new version number, so that a crash leaves
the old schema or the new one. A database from a newer version is refused, untouched.
"""

from importlib.resources import files
from pathlib import Path

import duckdb

from rxferrix_lab.errors import StoreUnavailableError

# Step k brings version k to version k + 1; version 0 is an empty database.
STEPS: tuple[str, ...] = ("schema.sql",)
CURRENT_VERSION = len(STEPS)


def migrate(connection: duckdb.DuckDBPyConnection, path: str | Path) -> None:
    """Run the steps that the database at `path` lacks.

    Raises:
        StoreUnavailableError: if a newer version of this package wrote the database, or its tables
            whose names begin with an underscore are not the scheduler's.
    """
    version = schema_version(connection)
    if version is None:
        raise StoreUnavailableError(
            f"{path} has tables of the scheduler's names but no schema version: it is not a "
            "database "
            "of this package; give another file"
        )
    if version > CURRENT_VERSION:
        raise StoreUnavailableError(
            f"{path} was written by a newer rxferrix_lab (schema {version}, this one knows "
            f"{CURRENT_VERSION}); upgrade the package, nothing was changed"
        )
    for step in range(version, CURRENT_VERSION):
        _run_step(connection, step)


def schema_version(connection: duckdb.DuckDBPyConnection) -> int | None:
    """The schema's version; 0 for a database without scheduler tables, None for a foreign one."""
    tables = {
        name
        for (name,) in connection.execute(
            "SELECT table_name FROM duckdb_tables() WHERE table_name LIKE '\\_%' ESCAPE '\\'"
        ).fetchall()
    }
    if "_meta" in tables:
        rows = connection.execute("SELECT value FROM _meta WHERE key = 'schema_version'").fetchall()
        return int(rows[0][0]) if rows else None
    return None if tables & {"_scheduled_jobs", "_crons", "_workpools", "_execution_log"} else 0


def _run_step(connection: duckdb.DuckDBPyConnection, step: int) -> None:
    script = files("rxferrix_lab.storage").joinpath(STEPS[step]).read_text(encoding="utf-8")
    connection.execute("BEGIN TRANSACTION")
    try:
        connection.execute(script)
        connection.execute(
            "UPDATE _meta SET value = $version WHERE key = 'schema_version'",
            {"version": str(step + 1)},
        )
        connection.execute("COMMIT")
    except duckdb.Error:
        connection.execute("ROLLBACK")
        raise
