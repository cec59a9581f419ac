"""SQL of the scheduler's own tables: load, send, look up, expire.

Functions over a connection inside an open transaction. They decide nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.storage.appending import append
from rxferrix_lab.storage.codec import (
    CRONS,
    JOBS,
    LOG,
    POOLS,
    TableCodec,
    instant_of,
)
from rxferrix_lab.storage.job_updates import FEW, update_jobs

if TYPE_CHECKING:
    from rxferrix_lab.storage.layer import Layer
    from rxferrix_lab.storage.transaction import Transaction

R = TypeVar("R")
DueKey = tuple[datetime, JobId]


def load_all(connection: duckdb.DuckDBPyConnection, codec: TableCodec[R]) -> list[R]:
    """Every record of a small table."""
    query = f"SELECT {codec.select_list} FROM {codec.table}"  # our own names
    return codec.decode(connection.execute(query).fetchall())


def load_jobs(connection: duckdb.DuckDBPyConnection, ids: Sequence[JobId]) -> list[JobRecord]:
    """The jobs of these ids that exist."""
    if not ids:
        return []
    rows = connection.execute(
        f"""
        SELECT {JOBS.select_list}
        FROM _scheduled_jobs
        WHERE id BETWEEN $low AND $high AND id IN (SELECT unnest($ids::BIGINT[]))
        """,  # our own names
        {"low": min(ids), "high": max(ids), "ids": list(ids)},
    ).fetchall()
    return JOBS.decode(rows)


def unfinished_jobs(
    connection: duckdb.DuckDBPyConnection, columns: Mapping[str, str]
) -> list[JobRecord]:
    """The unfinished jobs whose columns have these values, in id order."""
    conditions = "".join(f' AND "{name}" = ${name}' for name in columns)
    rows = connection.execute(
        f"""
        SELECT {JOBS.select_list}
        FROM _scheduled_jobs
        WHERE finished_at IS NULL{conditions}
        ORDER BY id
        """,  # our own names
        dict(columns),
    ).fetchall()
    return JOBS.decode(rows)


def pending_lanes(connection: duckdb.DuckDBPyConnection) -> list[tuple[str, str | None]]:
    """The (kind, pool) pairs that pending jobs have."""
    rows = connection.execute(
        "SELECT DISTINCT kind, pool FROM _scheduled_jobs WHERE state = 'pending'"
    ).fetchall()
    return [(kind, pool) for kind, pool in rows]


def has_occurrence(connection: duckdb.DuckDBPyConnection, cron: str, occurrence: datetime) -> bool:
    """Whether a job of the cron has this occurrence."""
    (row,) = connection.execute(
        """
        SELECT count(*)
        FROM _scheduled_jobs
        WHERE cron = $cron AND scheduled_for = $occurrence AND trigger IN ('cron', 'catch_up')
        """,
        {"cron": cron, "occurrence": occurrence},
    ).fetchall()
    return bool(row[0] > 0)


def due_keys(
    connection: duckdb.DuckDBPyConnection,
    lane: tuple[str, str | None],
    after: DueKey | None,
    most: int,
) -> list[DueKey]:
    """The next (due time, id) of the pending jobs of one lane (kind, pool), in order."""
    kind, pool = lane
    conditions = ["state = 'pending'", "kind = $kind"]
    values: dict[str, Any] = {"kind": kind, "most": most}
    if pool is None:
        conditions.append("pool IS NULL")
    else:
        conditions.append("pool = $pool")
        values["pool"] = pool
    if after is not None:
        conditions.append("(due_at > $due OR (due_at = $due AND id > $id))")
        values |= {"due": after[0], "id": after[1]}
    rows = connection.execute(
        f"""
        SELECT epoch_us(due_at), id
        FROM _scheduled_jobs
        WHERE {" AND ".join(conditions)}
        ORDER BY due_at, id
        LIMIT $most
        """,  # our own names
        values,
    ).fetchall()
    return [(instant_of(due), JobId(job)) for due, job in rows]


def send(transaction: Transaction, layer: Layer) -> bool:
    """Write what a layer holds back of the scheduler's rows; True where there was any."""
    connection = transaction.connection
    has_any = bool(layer.inserts or layer.updates or layer.log or layer.crons or layer.pools)
    _send_jobs(transaction, layer)
    if layer.log:
        ids = transaction.sequence(LOG.table)
        numbered = [(ids.draw(), *LOG.encode(entry)) for entry in layer.log]
        _append(connection, LOG.table, ("id", *LOG.columns), numbered)
        transaction.note_log_ids([row[0] for row in numbered])
        layer.log.clear()
    _replace_named(connection, CRONS, layer.crons)
    _replace_named(connection, POOLS, layer.pools)
    layer.tables |= {"_crons"} if layer.crons else set()
    layer.tables |= {"_workpools"} if layer.pools else set()
    layer.crons.clear()
    layer.pools.clear()
    return has_any


def _send_jobs(transaction: Transaction, layer: Layer) -> None:
    connection, revision = transaction.connection, transaction.revision
    if layer.inserts:
        rows: list[Sequence[Any]] = [
            (*JOBS.encode(job), revision) for job in layer.inserts.values()
        ]
        _append(connection, JOBS.table, (*JOBS.columns, "revision"), rows)
        layer.inserts.clear()
    if layer.updates:
        is_counted = update_jobs(connection, list(layer.updates.values()), revision)
        if not is_counted:
            transaction.note_uncounted(layer.updates)
        layer.updates.clear()


def _append(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
) -> None:
    if len(rows) <= FEW:
        for row in rows:
            _insert(connection, table, columns, row)
        return
    append(connection, table, rows, columns=columns)


def _insert(
    connection: duckdb.DuckDBPyConnection,
    table: str,
    columns: Sequence[str],
    row: Sequence[Any],
) -> None:
    """Insert one row by a statement that names only what is not null."""
    given = [(name, value) for name, value in zip(columns, row, strict=True) if value is not None]
    names = ", ".join(f'"{name}"' for name, _ in given)
    places = ", ".join("?" * len(given))
    connection.execute(
        f"INSERT INTO {table} ({names}) VALUES ({places})", [value for _, value in given]
    ).fetchall()  # an unfinished result refuses the appenders that follow


def _replace_named(
    connection: duckdb.DuckDBPyConnection, codec: TableCodec[R], owed: Mapping[str, R | None]
) -> None:
    """Few rows with a name for identity: take the old ones out and put the new ones in."""
    if not owed:
        return
    connection.execute(
        f"DELETE FROM {codec.table} WHERE name IN (SELECT unnest($names::VARCHAR[]))",
        {"names": list(owed)},
    )
    rows = [codec.encode(record) for record in owed.values() if record is not None]
    if rows:
        _append(connection, codec.table, codec.columns, rows)


def save_mark(connection: duckdb.DuckDBPyConnection, table: str, mark: int) -> None:
    """Write the mark below which ids of the table may have been drawn."""
    connection.execute("DELETE FROM _id_blocks WHERE table_name = $table", {"table": table})
    connection.execute(
        "INSERT INTO _id_blocks (table_name, reserved) VALUES ($table, $mark)",
        {"table": table, "mark": mark},
    )


def count_revision(
    connection: duckdb.DuckDBPyConnection, ids: Iterable[JobId], revision: int
) -> int:
    """How many of these job rows a commit has written."""
    known = list(ids)
    (row,) = connection.execute(
        """
        SELECT count(*)
        FROM _scheduled_jobs
        WHERE id BETWEEN $low AND $high AND revision = $revision
            AND id IN (SELECT unnest($ids::BIGINT[]))
        """,
        {"low": min(known), "high": max(known), "revision": revision, "ids": known},
    ).fetchall()
    return int(row[0])


# A row that an unfinished job refers to stays (contract 3.7).
_FREE_JOB = """
    finished_at IS NOT NULL
    AND id NOT IN (SELECT parent FROM _scheduled_jobs
        WHERE finished_at IS NULL AND parent IS NOT NULL)
    AND (completion IS NULL OR completion NOT IN (SELECT id FROM _scheduled_jobs
        WHERE finished_at IS NULL))
"""
_FREE_ENTRY = """
    job IS NULL OR job NOT IN (SELECT id FROM _scheduled_jobs WHERE finished_at IS NULL)
"""


def expire(connection: duckdb.DuckDBPyConnection, ended_before: datetime, most: int) -> int:
    """Delete ended jobs that no unfinished job refers to, and log rows of before.

    At most so many.
    """
    (gone,) = connection.execute(
        f"""
        DELETE FROM _scheduled_jobs
        WHERE id IN (SELECT id FROM _scheduled_jobs
            WHERE finished_at <= $before AND ({_FREE_JOB})
            LIMIT $most)
        """,  # our own names
        {"before": ended_before, "most": most},
    ).fetchall()
    (entries,) = connection.execute(
        f"""
        DELETE FROM _execution_log
        WHERE id IN (SELECT id FROM _execution_log
            WHERE finished_at <= $before AND ({_FREE_ENTRY})
            LIMIT $most)
        """,  # our own names
        {"before": ended_before, "most": most},
    ).fetchall()
    return int(gone[0] + entries[0])


def oldest_end(connection: duckdb.DuckDBPyConnection) -> datetime | None:
    """When the job or log row that ended first did, of those that may be deleted; None without."""
    (row,) = connection.execute(
        f"""
        SELECT epoch_us(least(
            (SELECT min(finished_at) FROM _scheduled_jobs WHERE {_FREE_JOB}),
            (SELECT min(finished_at) FROM _execution_log WHERE {_FREE_ENTRY})))
        """  # our own names
    ).fetchall()
    return instant_of(row[0]) if row[0] is not None else None


def holds_expired(connection: duckdb.DuckDBPyConnection, ended_before: datetime) -> bool:
    """Whether rows of before are there still, because an unfinished job refers to them."""
    (row,) = connection.execute(
        """
        SELECT EXISTS (SELECT 1 FROM _scheduled_jobs WHERE finished_at <= $before)
            OR EXISTS (SELECT 1 FROM _execution_log WHERE finished_at <= $before)
        """,
        {"before": ended_before},
    ).fetchall()
    return bool(row[0])
