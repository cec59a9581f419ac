"""What the screens count and sum up, read in one snapshot. Decides nothing and reads no clock."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import duckdb

from rxferrix_lab.domain.job import JobId, JobRecord, JobState
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.storage.codec import JOBS, LOG, instant_of


@dataclass(frozen=True, slots=True)
class Counts:
    """How many jobs are in each state, and what is derived from their columns."""

    pending: int = 0
    running: int = 0
    canceling: int = 0
    succeeded: int = 0
    failed: int = 0
    canceled: int = 0
    due: int = 0  # pending, and the time has come
    retrying: int = 0  # pending after an attempt that failed
    oldest_due_at: datetime | None = None  # null where nothing is due

    def of(self, state: JobState) -> int:
        """The number of jobs in a state."""
        count: int = getattr(self, state)
        return count

    @property
    def total(self) -> int:
        """All jobs."""
        finished = self.succeeded + self.failed + self.canceled
        return self.pending + self.running + self.canceling + finished


def count_jobs(connection: duckdb.DuckDBPyConnection, now: datetime) -> Counts:
    """The numbers of jobs as they are at `now`."""
    by_state = dict(
        connection.execute("SELECT state, count(*) FROM _scheduled_jobs GROUP BY state").fetchall()
    )
    row = connection.execute(
        """
        SELECT count(*) FILTER (WHERE due_at <= $now), count(*) FILTER (WHERE attempt > 0),
            epoch_us(min(due_at) FILTER (WHERE due_at <= $now))
        FROM _scheduled_jobs
        WHERE state = 'pending'
        """,
        {"now": now},
    ).fetchone()
    due, retrying, oldest = row or (0, 0, None)
    oldest_due_at = instant_of(oldest) if oldest is not None else None
    return Counts(**by_state, due=due, retrying=retrying, oldest_due_at=oldest_due_at)


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many jobs ended in one stretch of time that begins at `at`."""

    at: datetime
    succeeded: int = 0
    failed: int = 0
    canceled: int = 0


def throughput(
    connection: duckdb.DuckDBPyConnection, since: datetime, width: timedelta
) -> tuple[Bucket, ...]:
    """The jobs that ended since, by stretches of `width`; empty stretches are left out."""
    width_us = width // timedelta(microseconds=1)
    rows = connection.execute(
        """
        SELECT epoch_us(finished_at) // $width * $width AS stretch,
            count(*) FILTER (WHERE state = 'succeeded'),
            count(*) FILTER (WHERE state = 'failed'),
            count(*) FILTER (WHERE state = 'canceled')
        FROM _scheduled_jobs
        WHERE finished_at >= $since
        GROUP BY stretch
        ORDER BY stretch
        """,
        {"since": since, "width": width_us},
    ).fetchall()
    return tuple(Bucket(instant_of(at), *ended) for at, *ended in rows)


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """Jobs of one function that failed in the same way."""

    function: str
    type: str  # the exception's class name, or the kind of failure where none was raised
    message: str  # of the latest
    count: int
    last_at: datetime
    last_job: JobId


def failures(
    connection: duckdb.DuckDBPyConnection, since: datetime, most: int = 20
) -> tuple[FailureGroup, ...]:
    """The failures since, grouped by function and exception, the most frequent first."""
    rows = connection.execute(
        """
        SELECT "function",
            coalesce(nullif(json_extract_string(error, '$.type'), ''),
                json_extract_string(error, '$.kind'), 'error') AS type,
            coalesce(arg_max(json_extract_string(error, '$.message'), finished_at), ''),
            count(*) AS failed, epoch_us(max(finished_at)), arg_max(id, finished_at)
        FROM _scheduled_jobs
        WHERE state = 'failed' AND finished_at >= $since
        GROUP BY "function", type
        ORDER BY failed DESC, max(finished_at) DESC
        LIMIT $most
        """,
        {"since": since, "most": most},
    ).fetchall()
    return tuple(
        FailureGroup(function, kind, message, count, instant_of(at), JobId(job))
        for function, kind, message, count, at, job in rows
    )


@dataclass(frozen=True, slots=True)
class LaneCount:
    """What waits and runs in a pool, or in no pool, at one moment."""

    running: int = 0
    queued: int = 0  # due, and waits for a slot
    later: int = 0  # waits for its time or for a retry
    oldest_due_at: datetime | None = None  # null where nothing is due


def count_lanes(
    connection: duckdb.DuckDBPyConnection, now: datetime
) -> dict[str | None, LaneCount]:
    """What waits and runs, by pool; None stands for the actions in no pool."""
    rows = connection.execute(
        """
        SELECT pool, count(*) FILTER (WHERE state <> 'pending'),
            count(*) FILTER (WHERE state = 'pending' AND due_at <= $now),
            count(*) FILTER (WHERE state = 'pending' AND due_at > $now),
            epoch_us(min(due_at) FILTER (WHERE state = 'pending' AND due_at <= $now))
        FROM _scheduled_jobs
        WHERE finished_at IS NULL AND kind = 'action'
        GROUP BY pool
        """,
        {"now": now},
    ).fetchall()
    return {
        pool: LaneCount(running, queued, later, instant_of(at) if at is not None else None)
        for pool, running, queued, later, at in rows
    }


@dataclass(frozen=True, slots=True)
class PoolRun:
    """One run in a pool's slot."""

    job: JobId
    function: str
    started_at: datetime
    finished_at: datetime | None  # null while it runs
    state: JobState


def latest_runs(
    connection: duckdb.DuckDBPyConnection, since: datetime, most: int = 200
) -> dict[str | None, tuple[PoolRun, ...]]:
    """The latest runs of each pool that began since, oldest first; None: in no pool."""
    rows = connection.execute(
        """
        SELECT pool, id, "function", epoch_us(started_at), epoch_us(finished_at), state
        FROM _scheduled_jobs
        WHERE kind = 'action' AND started_at >= $since AND state <> 'pending'
        QUALIFY row_number() OVER (PARTITION BY pool ORDER BY started_at DESC, id DESC) <= $most
        ORDER BY started_at, id
        """,
        {"since": since, "most": most},
    ).fetchall()
    found: dict[str | None, list[PoolRun]] = {}
    for pool, job, function, began, ended, state in rows:
        finished_at = instant_of(ended) if ended is not None else None
        run = PoolRun(JobId(job), function, instant_of(began), finished_at, state)
        found.setdefault(pool, []).append(run)
    return {pool: tuple(runs) for pool, runs in found.items()}


def latest_cron_jobs(
    connection: duckdb.DuckDBPyConnection, most: int = 60
) -> dict[str, list[JobRecord]]:
    """The latest jobs of each cron, oldest first."""
    rows = connection.execute(
        f"""
        SELECT {JOBS.select_list}
        FROM _scheduled_jobs
        WHERE cron IS NOT NULL
        QUALIFY row_number() OVER (PARTITION BY cron ORDER BY id DESC) <= $most
        ORDER BY id
        """,  # our own names
        {"most": most},
    ).fetchall()
    found: dict[str, list[JobRecord]] = {}
    for job in JOBS.decode(rows):
        if job.cron is not None:
            found.setdefault(job.cron, []).append(job)
    return found


@dataclass(frozen=True, slots=True)
class LogRow:
    """One row of the execution log with its id."""

    id: int
    entry: LogEntry


@dataclass(frozen=True, slots=True)
class LogSearch:
    """What a log row must be like; None asks nothing."""

    text: str | None = None  # in function, identity, detail, output or error, in any case
    caller: str | None = None
    outcome: str | None = None
    job: JobId | None = None
    before: int | None = None  # an id


_LOG_CLAUSES = {
    "text": """contains(lower(concat_ws(' ', "function", identity, detail, output, error)),
        lower($text))""",
    "caller": "caller = $caller",
    "outcome": "outcome = $outcome",
    "job": "job = $job",
    "before": "id < $before",
}


def find_log(
    connection: duckdb.DuckDBPyConnection, search: LogSearch, most: int
) -> tuple[LogRow, ...]:
    """The newest rows of the execution log that match, newest first."""
    parts = ["true"]
    values: dict[str, Any] = {"most": most}
    for name, clause in _LOG_CLAUSES.items():
        wanted = getattr(search, name)
        if wanted is not None:
            parts.append(clause)
            values[name] = wanted
    rows = connection.execute(
        f"""
        SELECT id, {LOG.select_list}
        FROM _execution_log
        WHERE {" AND ".join(parts)}
        ORDER BY id DESC
        LIMIT $most
        """,  # our own names
        values,
    ).fetchall()
    entries = LOG.decode(row[1:] for row in rows)
    return tuple(LogRow(row[0], entry) for row, entry in zip(rows, entries, strict=True))


def children_of(
    connection: duckdb.DuckDBPyConnection, job: JobId, most: int = 50
) -> tuple[JobRecord, ...]:
    """The jobs that a job made, oldest first."""
    rows = connection.execute(
        f"""
        SELECT {JOBS.select_list}
        FROM _scheduled_jobs
        WHERE parent = $job
        ORDER BY id
        LIMIT $most
        """,  # our own names
        {"job": job, "most": most},
    ).fetchall()
    return tuple(JOBS.decode(rows))


def usual_durations(
    connection: duckdb.DuckDBPyConnection, function: str, most: int = 500
) -> tuple[timedelta, ...]:
    """How long the latest runs of a function took that succeeded, newest first."""
    rows: Sequence[tuple[int]] = connection.execute(
        """
        SELECT epoch_us(finished_at) - epoch_us(started_at)
        FROM _scheduled_jobs
        WHERE "function" = $function AND state = 'succeeded' AND started_at IS NOT NULL
        ORDER BY id DESC
        LIMIT $most
        """,
        {"function": function, "most": most},
    ).fetchall()
    return tuple(timedelta(microseconds=took) for (took,) in rows)


def names_in_use(connection: duckdb.DuckDBPyConnection) -> dict[str, tuple[str, ...]]:
    """The functions, pools and crons that jobs have, by column, for filters to choose from."""
    found: dict[str, tuple[str, ...]] = {}
    for column in ("function", "pool", "cron"):
        rows = connection.execute(
            f"""
            SELECT DISTINCT "{column}" AS name
            FROM _scheduled_jobs
            WHERE "{column}" IS NOT NULL
            ORDER BY name
            LIMIT 500
            """  # our own names
        ).fetchall()
        found[column] = tuple(name for (name,) in rows)
    return found
