"""Looking for jobs: which match a filter, how many, and one page of them in a chosen order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

import duckdb

from rxferrix_lab.domain.job import CANCELABLE, RERUNNABLE, JobId, JobRecord, JobState
from rxferrix_lab.storage.codec import JOBS

# What a page can be sorted by. None of them is ever null, so that a page has a place in the order.
ORDERS: Mapping[str, str] = {
    "id": "id",
    "function": '"function"',
    "state": "state",
    "pool": "coalesce(pool, '')",
    "attempt": "attempt",
    "asked": "epoch_us(scheduled_for)",
    "due": "epoch_us(due_at)",
    "waited": "coalesce(epoch_us(started_at) - epoch_us(due_at), -1)",
    "ran": "coalesce(epoch_us(finished_at) - epoch_us(started_at), -1)",
    "trigger": "trigger",
}
MOST_MATCHES = 100_000
Where = Literal["first", "last", "at", "after", "before"]


@dataclass(frozen=True, slots=True)
class JobSearch:
    """What a job must be like; None asks nothing."""

    states: tuple[JobState, ...] | None = None
    function: str | None = None
    pool: str | None = None
    cron: str | None = None
    text: str | None = None  # in the function's name, the arguments or the error, in any case
    job: JobId | None = None
    since: datetime | None = None  # asked for at this instant or later
    until: datetime | None = None  # asked for before this instant

    def among(self, states: frozenset[JobState]) -> "JobSearch":
        """The same search, of jobs in these states only."""
        asked = states if self.states is None else states.intersection(self.states)
        return replace(self, states=tuple(sorted(asked)))

    def condition(self) -> tuple[str, dict[str, Any]]:
        """The WHERE clause, and its parameters."""
        parts: list[str] = []
        values: dict[str, Any] = {}
        if self.states is not None:
            parts.append("state IN (SELECT unnest($states::VARCHAR[]))")
            values["states"] = list(self.states)
        for name, clause in _CLAUSES.items():
            wanted = getattr(self, name)
            if wanted is not None:
                parts.append(clause)
                values[name] = wanted
        return (" AND ".join(parts) or "true"), values


_CLAUSES = {
    "function": '"function" = $function',
    "pool": "pool = $pool",
    "cron": "cron = $cron",
    "text": """(contains(lower("function"), lower($text)) OR contains(lower(args), lower($text))
        OR contains(lower(coalesce(error, '')), lower($text)))""",
    "job": "id = $job",
    "since": "scheduled_for >= $since",
    "until": "scheduled_for < $until",
}


@dataclass(frozen=True, slots=True)
class Order:
    """By what a page is sorted; the newer job comes first among equals where it is descending."""

    by: str = "id"  # a key of ORDERS; anything else is taken for "id"
    is_descending: bool = True

    @property
    def key(self) -> str:
        """The SQL expression."""
        return ORDERS.get(self.by, "id")


@dataclass(frozen=True, slots=True)
class Place:
    """Where in the order a page lies: at an end, or beside the job with this key."""

    where: Where = "first"
    job: JobId | None = None  # null at the ends


@dataclass(frozen=True, slots=True)
class JobPage:
    """One page of what matches.

    Attributes:
        jobs: in the order asked for.
        total: how many match in all.
        position: how many of them come before the first of `jobs`.
        cancelable: how many of all have not ended, and are not being canceled.
        rerunnable: how many of all failed or were canceled.
    """

    jobs: tuple[JobRecord, ...]
    total: int
    position: int
    cancelable: int = 0
    rerunnable: int = 0


def find_jobs(
    connection: duckdb.DuckDBPyConnection, search: JobSearch, limit: int
) -> list[JobRecord]:
    """The newest jobs that match, newest first, at most `limit`."""
    condition, values = search.condition()
    rows: Sequence[tuple[Any, ...]] = connection.execute(
        f"""
        SELECT {JOBS.select_list}
        FROM _scheduled_jobs
        WHERE {condition}
        ORDER BY id DESC
        LIMIT $limit
        """,
        values | {"limit": limit},
    ).fetchall()
    return JOBS.decode(rows)


def matching_ids(connection: duckdb.DuckDBPyConnection, search: JobSearch) -> list[JobId]:
    """The ids of all that match, oldest first, at most 100,000."""
    condition, values = search.condition()
    rows = connection.execute(
        f"""
        SELECT id
        FROM _scheduled_jobs
        WHERE {condition}
        ORDER BY id
        LIMIT {MOST_MATCHES}
        """,  # our own names
        values,
    ).fetchall()
    return [JobId(row[0]) for row in rows]


def page_of_jobs(
    connection: duckdb.DuckDBPyConnection,
    search: JobSearch,
    order: Order,
    place: Place,
    size: int,
) -> JobPage:
    """One page, found by key and not by counting rows off: the last is as near as the first."""
    key = _key_of(connection, order, place)
    if place.where not in ("first", "last") and key is None:
        place = Place()  # the job has been deleted meanwhile
    jobs = _rows(connection, search, order, place, key, size)
    if len(jobs) < size and place.where in ("at", "before"):
        # Too near an end for a whole page: show the page at that end.
        place = Place("first" if place.where == "before" else "last")
        jobs = _rows(connection, search, order, place, None, size)
    return JobPage(tuple(jobs), *_counts(connection, search, order, jobs))


Key = tuple[Any, JobId]  # the value sorted by, of the column's own type, and the id


def _key_of(connection: duckdb.DuckDBPyConnection, order: Order, place: Place) -> Key | None:
    if place.job is None:
        return None
    return connection.execute(
        f"SELECT {order.key}, id FROM _scheduled_jobs WHERE id = $job",  # from ORDERS
        {"job": place.job},
    ).fetchone()


def _rows(
    connection: duckdb.DuckDBPyConnection,
    search: JobSearch,
    order: Order,
    place: Place,
    key: Key | None,
    size: int,
) -> list[JobRecord]:
    condition, values = search.condition()
    is_backward = place.where in ("last", "before")
    is_descending = order.is_descending != is_backward
    if key is not None:
        sign = ("<" if is_descending else ">") + ("=" if place.where == "at" else "")
        condition += f" AND ({order.key}, id) {sign} ($key, $key_id)"
        values |= {"key": key[0], "key_id": key[1]}
    direction = "DESC" if is_descending else "ASC"
    # The keys first, the wide rows after: the sort then carries two columns and not twenty.
    rows = connection.execute(
        f"""
        SELECT {JOBS.select_list}
        FROM _scheduled_jobs
        WHERE id IN (
            SELECT id
            FROM _scheduled_jobs
            WHERE {condition}
            ORDER BY {order.key} {direction}, id {direction}
            LIMIT $size
        )
        ORDER BY {order.key} {direction}, id {direction}
        """,  # from ORDERS and our own names
        values | {"size": size},
    ).fetchall()
    jobs = JOBS.decode(rows)
    return jobs[::-1] if is_backward else jobs


def _counts(
    connection: duckdb.DuckDBPyConnection,
    search: JobSearch,
    order: Order,
    jobs: Sequence[JobRecord],
) -> tuple[int, int, int, int]:
    condition, values = search.condition()
    is_before = "false"
    if jobs:
        sign = ">" if order.is_descending else "<"
        first = _key_of(connection, order, Place("at", jobs[0].id))
        if first is not None:
            is_before = f"({order.key}, id) {sign} ($key, $key_id)"
            values |= {"key": first[0], "key_id": first[1]}
    row = connection.execute(
        f"""
        SELECT
            count(*),
            count(*) FILTER (WHERE {is_before}),
            count(*) FILTER (WHERE state IN (SELECT unnest($cancelable::VARCHAR[]))),
            count(*) FILTER (WHERE state IN (SELECT unnest($rerunnable::VARCHAR[])))
        FROM _scheduled_jobs
        WHERE {condition}
        """,  # from ORDERS and our own names
        values | {"cancelable": list(CANCELABLE), "rerunnable": list(RERUNNABLE)},
    ).fetchone()
    return (row[0], row[1], row[2], row[3]) if row else (0, 0, 0, 0)
