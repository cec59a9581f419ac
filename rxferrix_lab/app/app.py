"""`RxFerrix`, the face of it all: each verb is a few lines that delegate."""

from __future__ import annotations

import copy
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar, cast, overload

from rxferrix_lab.app.calling import Calling
from rxferrix_lab.app.declaring import Declaring, is_interactive_session
from rxferrix_lab.app.functions import Action, Mutation, Query
from rxferrix_lab.app.host import Host
from rxferrix_lab.app.job_handle import JobHandle
from rxferrix_lab.app.operations import Operations
from rxferrix_lab.app.reading import Reading
from rxferrix_lab.app.registry import Registry
from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.app.scheduling import Scheduler, SyncScheduler
from rxferrix_lab.app.serving import Served, served
from rxferrix_lab.domain.job import Job, JobId, JobState
from rxferrix_lab.domain.outcome import WorkResult
from rxferrix_lab.engine.cancellation import PoolCancellation
from rxferrix_lab.engine.clock import Clock, SystemClock, checked_clock
from rxferrix_lab.engine.options import Options
from rxferrix_lab.engine.program import Identity, checked_identity
from rxferrix_lab.storage.rows import Rows
from rxferrix_lab.storage.store import Store, checked_path

if TYPE_CHECKING:
    import pandas as pd

    from rxferrix_lab.notebook.show import Show
    from rxferrix_lab.reactive.live_query import LiveQuery
    from rxferrix_lab.reactive.model import LiveModel

P = ParamSpec("P")
R = TypeVar("R")


class RxFerrix(Declaring):
    """Durable scheduled work in one DuckDB file.

    Args:
        database: the file, made when it is absent, or ":memory:".
        clock: where time comes from; the machine's unless given.
        grace: how long a running action may go on after it was asked to stop.
        keep: how long finished jobs and log rows stay.
        parallelism: slots of the actions in no pool.
        seed: of all randomness; drawn where not given.
        interactive: whether cells declare functions one by one; found out where not given.
        backup_folder: where `backup` may write, besides the database's own folder.
    """

    def __init__(
        self,
        database: str | Path = ":memory:",
        *,
        clock: Clock | None = None,
        grace: timedelta = timedelta(seconds=5),
        keep: timedelta = timedelta(days=7),
        parallelism: int = 256,
        seed: int | None = None,
        interactive: bool | None = None,
        backup_folder: str | Path | None = None,
    ) -> None:
        is_interactive = interactive if interactive is not None else is_interactive_session()
        super().__init__(Registry(is_interactive=is_interactive))
        self.database = checked_path(database)
        self.clock: Clock = checked_clock(clock) if clock is not None else SystemClock()
        self.options = Options.checked(
            grace, keep, parallelism, seed if seed is not None else secrets.randbits(63)
        )
        self._backup_folder = backup_folder
        self._host = Host()
        self._pages: list[Served] = []  # dashboards that `serve` began
        self._inside: AbstractAsyncContextManager[None] | None = None
        self._identity: Identity | None = None

    def __repr__(self) -> str:
        """The file, and whether it runs."""
        state = "running" if self._host.is_running else "stopped"
        return f"<RxFerrix {self.database} {state}>"

    # --- running --------------------------------------------------------------------------------
    def run(self) -> None:
        """Run as a service: blocks, and stops cleanly on SIGINT and SIGTERM.

        Raises:
            DatabaseInUseError, StoreUnavailableError: if the database cannot be had.
        """
        try:
            self._host.run(self._new_runtime())
        finally:
            self._end_pages()

    def start(self) -> Self:
        """Run in a thread of its own; harmless when it runs already.

        Raises:
            DatabaseInUseError, StoreUnavailableError: if the database cannot be had.
        """
        if not self._host.is_running:
            self._host.start(self._new_runtime())
        return self

    def stop(self) -> None:
        """Stop cleanly, giving running actions their grace. Harmless when stopped."""
        if self._host.is_running:
            self._runtime.refuse_inside_mutation("stop")
        self._host.stop()
        self._end_pages()

    def _end_pages(self) -> None:
        """A page's thread would keep the process alive, with nothing to show."""
        while self._pages:
            self._pages.pop().stop()

    @property
    def is_running(self) -> bool:
        """Whether the app takes calls."""
        return self._host.is_running

    def advance(self, duration: timedelta, /) -> list[JobId]:
        """Move an app on a `VirtualClock` on by `duration`; the jobs that ran, in order.

        Raises:
            VirtualTimeError: on the machine's clock, or if an action waits on something real.
        """
        return self._operations.move_time(duration)

    def advance_to(self, instant: datetime, /) -> list[JobId]:
        """Move an app on a `VirtualClock` on to `instant`, or leave it where that has passed.

        Raises:
            VirtualTimeError: on the machine's clock, or if an action waits on something real.
        """
        return self._operations.move_time(instant)

    async def __aenter__(self) -> Self:
        """Run inside the current event loop, until the block ends."""
        inside = self._host.inside(self._new_runtime())
        await inside.__aenter__()
        self._inside = inside
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Stop cleanly."""
        inside, self._inside = self._inside, None
        if inside is not None:
            await inside.__aexit__(None, None, None)

    def _new_runtime(self) -> Runtime:
        store = Store(self.database, backup_folder=self._backup_folder)
        return Runtime(self._registry, store, self.clock, self.options)

    def _declared(self) -> None:
        if self._host.is_running:
            self._runtime.take_over_declared()

    @property
    def _runtime(self) -> Runtime:
        return self._host.running()

    @property
    def _calling(self) -> Calling:
        return Calling(self._runtime, self._identity)

    @property
    def _operations(self) -> Operations:
        return Operations(self._runtime, self._identity)

    # --- calling --------------------------------------------------------------------------------
    @overload
    async def run_query(self, fn: Query[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def run_query(self, fn: str, /, *args: object, **kwargs: object) -> Any: ...  # noqa: ANN401  # a name has no type
    async def run_query(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a query, by function or by name, and return its result.

        Raises:
            ArgumentsError, UnknownFunctionError, PermissionDeniedError: before it runs.
        """
        return await self._calling.run_query(fn, args, kwargs)

    @overload
    async def run_mutation(self, fn: Mutation[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def run_mutation(self, fn: str, /, *args: object, **kwargs: object) -> Any: ...  # noqa: ANN401  # a name has no type
    async def run_mutation(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a mutation, by function or by name, and return its result once it has committed.

        Raises:
            ArgumentsError, UnknownFunctionError, PermissionDeniedError: before it runs.
            Exception: whatever the mutation raised; nothing of it was written then.
        """
        return await self._calling.run_mutation(fn, args, kwargs)

    @overload
    async def run_action(self, fn: Action[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def run_action(self, fn: str, /, *args: object, **kwargs: object) -> Any: ...  # noqa: ANN401  # a name has no type
    async def run_action(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run an action, by function or by name, and return its result.

        Raises:
            ArgumentsError, UnknownFunctionError, PermissionDeniedError: before it runs.
            Exception: whatever the action raised.
        """
        return await self._calling.run_action(fn, args, kwargs)

    def call(
        self,
        fn: Query[P, R] | Mutation[P, R] | Action[P, R],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """Run a function and wait for its result, from plain code.

        Raises:
            BlockingCallError: on the engine's own loop, or inside a mutation.
        """
        return cast("R", self._calling.call(fn, args, kwargs))

    def as_user(self, identity: Identity, /) -> Self:
        """The same app, calling as this identity."""
        face = copy.copy(self)
        face._identity = checked_identity(identity)  # the same class
        return face

    @property
    def identity(self) -> Identity | None:
        """Who this face of the app calls as; None for the program itself."""
        return self._identity

    @property
    def scheduler(self) -> Scheduler:
        """The awaited scheduling verbs.

        Raises:
            PermissionDeniedError: for a viewer.
        """
        self._operations.permit("schedule")
        return Scheduler(self._calling.counter())

    @property
    def sync_scheduler(self) -> SyncScheduler:
        """The scheduling verbs for plain code, blocking until they have committed.

        Raises:
            PermissionDeniedError: for a viewer.
        """
        self._operations.permit("schedule")
        return SyncScheduler(self._calling.counter())

    # --- reading --------------------------------------------------------------------------------
    def job(self, job: JobId, /) -> Job:
        """One job.

        Raises:
            UnknownJobError: if there is none.
        """
        return Reading(self._runtime).job(job)

    def jobs(
        self,
        *,
        state: JobState | Sequence[JobState] | None = None,
        function: str | None = None,
        pool: str | None = None,
        cron: str | None = None,
        limit: int = 1000,
    ) -> pd.DataFrame:
        """The newest jobs that match, newest first, one column for each field of `Job`."""
        return Reading(self._runtime).jobs(state, function, pool, cron, limit)

    async def wait(self, job: JobId, /) -> WorkResult[Any]:
        """How a job ended, once it has.

        Raises:
            UnknownJobError: if there is none.
        """
        return await Reading(self._runtime).wait(job)

    def handle(self, job: JobId, /) -> JobHandle:
        """A job that can be awaited for its `WorkResult`.

        Raises:
            UnknownJobError: if there is none.
        """
        return JobHandle(job, Reading(self._runtime))

    def sql(self, query: str, /, **params: object) -> pd.DataFrame:
        """The rows of a SELECT as a data frame; `$name` in it is filled from the keywords.

        Raises:
            ForbiddenStatementError: for a statement that does more than read.
        """
        return Reading(self._runtime).sql(query, params).df()

    def rows(self, query: str, /, **params: object) -> Rows:
        """The rows of a SELECT, to take as pandas, polars or Arrow.

        Raises:
            ForbiddenStatementError: for a statement that does more than read.
        """
        return Reading(self._runtime).sql(query, params)

    def subscribe(self, fn: Query[P, R], /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        """The query's result now, and again after each commit that changed a table it reads."""
        return self._calling.subscribe(fn, args, kwargs)

    def live(self, fn: Query[P, R], /, *args: P.args, **kwargs: P.kwargs) -> LiveQuery:
        """The query's result as a param object that follows the commits."""
        from rxferrix_lab.reactive.live_query import LiveQuery  # loads param

        return LiveQuery.of(self._runtime, self._calling.bound_query(fn, args, kwargs))

    def model(self) -> LiveModel:
        """What a screen or a cell looks at: frozen values that follow the commits."""
        from rxferrix_lab.reactive.model import LiveModel  # loads param

        return LiveModel.of(self._runtime, self._identity)

    @property
    def show(self) -> Show:
        """The dashboard's views, each alone, for a notebook's cells."""
        from rxferrix_lab.notebook.show import Show  # loads panel

        return Show(self)

    def serve(self, port: int = 5006, *, address: str = "localhost") -> Served:
        """Show this app's dashboard from this process, in a thread: before `run`, or after `start`.

        Answers only this machine; `panel serve dashboard --args my_module:app` lets people sign in.
        """
        page = served(self, port, address)
        self._pages.append(page)
        return page

    # --- operating ------------------------------------------------------------------------------
    def cancel(self, job: JobId, /) -> bool:
        """Cancel a job; True where this call stopped or is stopping it.

        Raises:
            UnknownJobError: if there is none.
            PermissionDeniedError: for a viewer, as with every verb here.
        """
        return self._operations.cancel(job)

    def rerun(self, job: JobId, /) -> JobId:
        """Make a new job like one that failed or was canceled.

        Raises:
            NotRerunnableError: for a job in any other state.
        """
        return self._operations.rerun(job)

    def cancel_pool(self, name: str, /) -> PoolCancellation:
        """Cancel all that is queued or running in the pool at this moment."""
        return self._operations.cancel_pool(name)

    def run_cron_now(self, name: str, /) -> JobId:
        """Run a cron at once, without moving its next run.

        Raises:
            UnknownCronError: if there is none.
            CronBusyError: while its previous run is going.
        """
        return self._operations.run_cron_now(name)

    def pause_cron(self, name: str, /) -> None:
        """Let a cron make no jobs until it is resumed."""
        self._operations.pause_cron(name)

    def resume_cron(self, name: str, /) -> None:
        """Let a paused cron go on from now; it missed nothing."""
        self._operations.resume_cron(name)

    def remove_cron(self, name: str, /) -> None:
        """Take a cron out with its pending job; its history stays."""
        self._operations.remove_cron(name)

    def resize_pool(self, name: str, max_parallelism: int, /) -> None:
        """Give a pool another number of slots; 0 pauses it."""
        self._operations.resize_pool(name, max_parallelism)

    def backup(self, path: str | Path, /) -> None:
        """Copy a consistent state of the database into a new file.

        Raises:
            ValueError: if the file exists, or lies outside the database's and the backup folder.
        """
        self._operations.backup(path)
