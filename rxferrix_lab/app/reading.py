"""Reading an app: jobs, frames, waiting for an end, and following a query."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence, Set
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar, cast, get_args

import anyio

from rxferrix_lab.app.completions import work_result
from rxferrix_lab.app.job_glance import JobGlance, glance
from rxferrix_lab.domain.given import checked_text, checked_whole
from rxferrix_lab.domain.job import Job, JobId, JobRecord, JobState, job_of
from rxferrix_lab.domain.outcome import WorkResult
from rxferrix_lab.engine.loop import Loop, result_of
from rxferrix_lab.engine.waiting import waiting_on_clock
from rxferrix_lab.errors import NotRunningError, UnknownJobError
from rxferrix_lab.storage.ids import is_id
from rxferrix_lab.storage.job_search import JobSearch
from rxferrix_lab.storage.rows import Rows

if TYPE_CHECKING:
    import pandas as pd

    from rxferrix_lab.app.functions import Query
    from rxferrix_lab.app.runtime import Runtime
    from rxferrix_lab.engine.program import Execution
    from rxferrix_lab.engine.writer import Change

T = TypeVar("T")
STATES: tuple[JobState, ...] = get_args(JobState)


class Reading:
    """What can be read of a running app. Nothing here changes anything."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def record(self, job: JobId) -> JobRecord:
        """The stored row of a job.

        Raises:
            UnknownJobError: if there is none.
        """
        return self._record_soon(job).result()

    def _record_soon(self, job: object) -> Future[JobRecord]:
        def look() -> JobRecord:
            found = None
            if is_id(job):
                with self._runtime.engine.store.snapshot() as snapshot:
                    found = snapshot.job(JobId(job))
            if found is None:
                raise UnknownJobError(job)
            return found

        return self._runtime.read_soon(look)

    def job(self, job: JobId) -> Job:
        """One job.

        Raises:
            UnknownJobError: if there is none.
        """
        return job_of(self.record(job))

    def glance(self, job: JobId) -> JobGlance:
        """A job with its attempts, and what the latest one printed and told.

        Raises:
            UnknownJobError: if there is none.
        """
        return glance(self._runtime, job)

    def on_commit(self, hear: Callable[[], None]) -> Callable[[], None]:
        """Call `hear` after each commit, on the writer's thread; returns what ends that."""
        return self._runtime.engine.feed.listen(lambda _: hear())

    def jobs(
        self,
        state: JobState | Sequence[JobState] | None,
        function: str | None,
        pool: str | None,
        cron: str | None,
        limit: int,
    ) -> pd.DataFrame:
        """The newest jobs that match, newest first, one column for each field of `Job`.

        Raises:
            ValueError: for an unknown state or a limit below 1.
        """
        for name, wanted in (("function", function), ("pool", pool), ("cron", cron)):
            if wanted is not None:
                checked_text(wanted, name)
        search = JobSearch(_states(state), function, pool, cron)
        checked_whole(limit, "limit", least=1)

        def look() -> list[JobRecord]:
            with self._runtime.engine.store.snapshot() as snapshot:
                return snapshot.find_jobs(search, limit)

        return _frame(self._runtime.read_soon(look).result())

    def sql(self, query: str, params: Mapping[str, object]) -> Rows:
        """The rows of a statement that reads."""

        def look() -> Rows:
            with self._runtime.engine.store.snapshot() as snapshot:
                return snapshot.sql(query, params)

        return self._runtime.read_soon(look).result()

    async def wait(self, job: JobId) -> WorkResult[Any]:
        """How the job ended, once it has.

        Raises:
            UnknownJobError: if there is none.
            NotRunningError: if the app stops before the job has ended.
        """
        engine = self._runtime.engine
        ended = engine.awaited.when_ended(job)
        try:
            record = await result_of(self._record_soon(job))
            if not record.is_finished:
                with waiting_on_clock(engine.clock):
                    record = await result_of(ended)
        finally:
            engine.awaited.stop_waiting(job, ended)
        return work_result(record, self._runtime.registry)

    async def subscribe(
        self, fn: Query[..., T], args: tuple[Any, ...], kwargs: Mapping[str, Any], caller: Execution
    ) -> AsyncIterator[T]:
        """The query's result now and after each commit that changed a table it read.

        Raises:
            NotRunningError: if the app stops.
        """
        feed = self._runtime.engine.feed
        news = _News(Loop())
        stop = feed.listen(news.hear, news.end)
        try:
            while True:
                seen = feed.version  # the snapshot that follows holds this commit, and all before
                tables: set[str] = set()
                value = await self._runtime.query_with_tables(fn, args, kwargs, caller, tables)
                yield value
                with waiting_on_clock(self._runtime.engine.clock):
                    await news.until_changed(tables, seen)
        finally:
            stop()


class _News:
    """Collects which tables changed, and with which commit last.

    `hear` and `end` are called on the writer's thread, the rest on the loop.
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._changed: dict[str, int] = {}
        self._has_ended = False
        self._heard = anyio.Event()

    def hear(self, change: Change) -> None:
        self._loop.post(lambda: self._take(change))

    def end(self) -> None:
        self._has_ended = True
        self._loop.post(lambda: self._heard.set())

    def _take(self, change: Change) -> None:
        self._changed |= dict.fromkeys(change.tables, change.version)
        self._heard.set()

    async def until_changed(self, tables: set[str], seen: int) -> None:
        while not any(self._changed.get(table, 0) > seen for table in (*tables, "*")):
            if self._has_ended:
                raise NotRunningError("the app has stopped")
            self._heard = anyio.Event()
            await self._heard.wait()


def _states(state: object) -> tuple[JobState, ...] | None:
    if state is None:
        return None
    is_many = isinstance(state, Sequence | Set) and not isinstance(state, str)
    states: tuple[JobState, ...] = tuple(cast("Any", state)) if is_many else (cast("Any", state),)
    for name in states:
        if name not in STATES:
            raise ValueError(f'"{name}" is not a state; the states are {", ".join(STATES)}')
    return states


def _frame(records: list[JobRecord]) -> pd.DataFrame:
    import pandas as pd  # importing the package must not load pandas

    columns = list(Job.__dataclass_fields__)
    jobs = [job_of(record) for record in records]
    rows = [[getattr(job, column) for column in columns] for job in jobs]
    return pd.DataFrame.from_records(rows, columns=columns)
