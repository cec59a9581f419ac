"""Looking for jobs: which match a filter, how many, and one page of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from rxferrix_lab.domain.job import JobRecord, JobState
from rxferrix_lab.storage.codec import JOBS


@dataclass(frozen=True, slots=True)
class JobSearch:
    """What a job must be like; None asks nothing."""

    states: tuple[JobState, ...] | None = None
    function: str | None = None
    pool: str | None = None
    cron: str | None = None

    def condition(self) -> tuple[str, dict[str, Any]]:
        """The WHERE clause, and its parameters."""
        parts: list[str] = []
        values: dict[str, Any] = {}
        if self.states is not None:
            parts.append("state IN (SELECT unnest($states::VARCHAR[]))")
            values["states"] = list(self.states)
        for column in ("function", "pool", "cron"):
            wanted = getattr(self, column)
            if wanted is not None:
                parts.append(f'"{column}" = ${column}')
                values[column] = wanted
        return (" AND ".join(parts) or "true"), values


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
