"""`LiveModel`: what one session or cell looks at.

Written only by `refresh`, on the thread of whoever owns it, so that param is never used from two
threads. Nothing shared is bound: the hub wakes it with a plain call.
"""

from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import param

from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.engine.loop import result_of
from rxferrix_lab.engine.program import Identity
from rxferrix_lab.reactive.details import details_of
from rxferrix_lab.reactive.hub import Hub
from rxferrix_lab.reactive.operator import Operator
from rxferrix_lab.reactive.picture import (
    BEFORE_ALL,
    Counts,
    Health,
    JobDetails,
    LogRow,
    Overview,
    Picture,
)
from rxferrix_lab.storage.job_export import exported_jobs, parquet_of, sql_of
from rxferrix_lab.storage.job_search import JobPage, JobSearch, Order, Place, page_of_jobs
from rxferrix_lab.storage.snapshot import Snapshot
from rxferrix_lab.storage.statistics import LogSearch, find_log, names_in_use

T = TypeVar("T")
SHOWN = (
    *("version", "now", "is_virtual", "counts", "jobs", "crons", "pools", "log", "overview"),
    *("health", "progress", "functions"),
)


class LiveModel(param.Parameterized):
    """A running app as frozen values that follow its commits."""

    version = param.Integer(default=0, doc="Of the last commit that the values show.")
    now = param.Parameter(default=BEFORE_ALL, doc="The app's own time, UTC.")
    is_virtual = param.Boolean(default=False, doc="Whether that time is stepped by hand.")
    counts = param.Parameter(default=Counts(), doc="Jobs by state.")
    jobs = param.Parameter(default=(), doc="The newest jobs, newest first.")
    crons = param.Parameter(default=(), doc="Crons and intervals by name.")
    pools = param.Parameter(default=(), doc="Pools by name, the slots of no pool last.")
    log = param.Parameter(default=(), doc="The newest rows of the execution log.")
    overview = param.Parameter(default=Overview(), doc="The last day in numbers.")
    health = param.Parameter(default=Health(), doc="How the engine is.")
    progress = param.Parameter(default=(), doc="What running actions told of themselves.")
    functions = param.Parameter(default=frozenset(), doc="The names that are registered.")

    def __init__(self, hub: Hub, operator: Operator, **values: object) -> None:
        super().__init__(**values)  # type: ignore[no-untyped-call]  # the constructor is param's
        self._hub = hub
        self._seen: Picture | None = None
        self.operator = operator

    @property
    def hub(self) -> Hub:
        """What takes the pictures, shared by every model of the app."""
        return self._hub

    @classmethod
    def of(cls, runtime: Runtime, identity: Identity | None = None) -> "LiveModel":
        """The model of a running app for one identity, filled with what is there now."""
        model = cls(Hub.of(runtime), Operator(runtime, identity))
        model.refresh()
        return model

    def refresh(self) -> bool:
        """Take over the newest picture; True if something changed but the time."""
        picture = self._hub.picture
        if not self._hub.has_thread or picture.now == BEFORE_ALL:
            picture = self._hub.take()
        if picture is self._seen:
            return False
        self._seen = picture
        changed = {
            name: getattr(picture, name)
            for name in SHOWN
            if getattr(picture, name) != getattr(self, name)
        }
        self.param.update(**changed)
        # A pool's history grows with time alone; what else changes of a pool is in the counts.
        return bool(changed.keys() - {"now", "pools"})

    def follow(self, wake: Callable[[], object]) -> Callable[[], None]:
        """Call `wake`, on another thread, whenever `refresh` has news; returns what ends that."""
        return self._hub.follow(wake)

    # --- reading more ---------------------------------------------------------------------------
    async def find_jobs(
        self, search: JobSearch, order: Order, place: Place, size: int = 50
    ) -> JobPage:
        """One page of the jobs that match."""
        return await self._read(lambda snap: snap.ask(page_of_jobs, search, order, place, size))

    async def job(self, job: JobId) -> JobDetails | None:
        """A job with everything around it; None where there is none."""
        return await self._read(lambda snapshot: details_of(snapshot, self._hub.runtime, job))

    async def find_log(self, search: LogSearch, most: int = 200) -> tuple[LogRow, ...]:
        """The newest rows of the execution log that match, newest first."""
        return await self._read(lambda snapshot: snapshot.ask(find_log, search, most))

    def export_jobs(self, search: JobSearch, file_format: str) -> bytes:
        """The jobs that match as "csv" or "parquet", newest first, at most 200,000. Blocks."""
        return self._read_soon(lambda snap: exported(snap, search, file_format)).result()

    def sql_of(self, search: JobSearch) -> str:
        """The statement that finds the same jobs."""
        return sql_of(search)

    async def names(self) -> dict[str, tuple[str, ...]]:
        """The functions, pools and crons that jobs have, for filters to choose from."""
        return await self._read(lambda snapshot: snapshot.ask(names_in_use))

    async def _read(self, look: Callable[[Snapshot], T]) -> T:
        return await result_of(self._read_soon(look))

    def _read_soon(self, look: Callable[[Snapshot], T]) -> "Future[T]":
        runtime = self._hub.runtime

        def whole() -> T:
            with runtime.engine.store.snapshot() as snapshot:
                return look(snapshot)

        return runtime.read_soon(whole)


def exported(snapshot: Snapshot, search: JobSearch, file_format: str) -> bytes:
    """The jobs that match, as the bytes of a file."""
    rows = snapshot.ask(exported_jobs, search)
    if file_format == "parquet":
        return parquet_of(rows)
    return rows.df().to_csv(index=False).encode()
