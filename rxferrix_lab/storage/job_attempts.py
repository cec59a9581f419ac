"""The executions of one job, as the log has them."""

import duckdb

from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.storage.codec import LOG


def attempts_of(connection: duckdb.DuckDBPyConnection, job: JobId) -> list[LogEntry]:
    """The executions of the job, the actions that it ran inside itself included, oldest first."""
    rows = connection.execute(
        f"""
        SELECT {LOG.select_list}
        FROM _execution_log
        WHERE job = $job
        ORDER BY id
        """,  # our own names
        {"job": job},
    ).fetchall()
    return LOG.decode(rows)
