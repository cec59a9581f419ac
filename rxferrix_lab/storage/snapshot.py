"""Reading: one committed state of the database, seen by one query, with nothing left open."""

from collections.abc import Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

import duckdb

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.storage import scheduler_rows
from rxferrix_lab.storage.catalog import Catalog
from rxferrix_lab.storage.job_search import JobSearch, find_jobs
from rxferrix_lab.storage.rows import Rows
from rxferrix_lab.storage.statements import inspect_query, table_names
from rxferrix_lab.storage.user_tables import get_row, run_statement

P = ParamSpec("P")
T = TypeVar("T")


class Snapshot:
    """A read-only transaction; `tables` collects what was read, in lower case, views resolved."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self.is_noting = False  # whether to find out what is read, which costs a look-up
        self.tables: set[str] = set()

    def sql(self, query: str, params: Mapping[str, object]) -> Rows:
        """Run a SELECT or EXPLAIN; `params` fill `$name` in it.

        Raises:
            ForbiddenStatementError: for any other statement.
        """
        inspect_query(query, self._connection)
        if self.is_noting:
            self.tables |= {name.lower() for name in table_names(query, self._connection)}
        return run_statement(self._connection, query, params)

    def get(self, table: str, row: int) -> dict[str, Any] | None:
        """The row of this id, or None."""
        shape = Catalog(self._connection).shape(table)
        self.tables.add(shape.name.lower())
        return get_row(self._connection, shape, row)

    def job(self, job: JobId) -> JobRecord | None:
        """The job, or None where there is none."""
        found = scheduler_rows.load_jobs(self._connection, [job])
        return found[0] if found else None

    def find_jobs(self, search: JobSearch, limit: int) -> list[JobRecord]:
        """The newest jobs that match, at most `limit`."""
        return find_jobs(self._connection, search, limit)

    def ask(
        self,
        question: Callable[Concatenate[duckdb.DuckDBPyConnection, P], T],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """The answer of one of this floor's questions."""
        return question(self._connection, *args, **kwargs)
