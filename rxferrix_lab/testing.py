"""Stepping time in tests: an app on a virtual clock and a database of its own.

`TestApp` runs the functions, pools and crons of an app, never its database unless it is given it.
Nothing takes longer than the work itself, and the same steps give the same rows.
"""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, ParamSpec, Self, TypeVar, overload

import anyio

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.calling import Calling
from rxferrix_lab.app.functions import Action, Mutation, Query
from rxferrix_lab.app.job_handle import JobHandle
from rxferrix_lab.app.operations import Operations
from rxferrix_lab.app.reading import Reading
from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.app.scheduling import Scheduler
from rxferrix_lab.domain.asked_time import checked_duration
from rxferrix_lab.domain.given import checked_datetime, checked_whole
from rxferrix_lab.domain.job import Job, JobId, JobState
from rxferrix_lab.domain.outcome import WorkResult
from rxferrix_lab.engine.cancellation import PoolCancellation
from rxferrix_lab.engine.clock import VirtualClock
from rxferrix_lab.engine.options import Options
from rxferrix_lab.engine.program import Identity, checked_identity
from rxferrix_lab.engine.stepper import Stepper
from rxferrix_lab.engine.ticker import LEAP
from rxferrix_lab.errors import InstantError, NotRunningError
from rxferrix_lab.storage.rows import Rows
from rxferrix_lab.storage.store import Store

if TYPE_CHECKING:
    import pandas as pd
    from anyio.abc import TaskGroup

P = ParamSpec("P")
R = TypeVar("R")
START = datetime(2026, 1, 1, tzinfo=UTC)


class TestApp:
    """An app whose time stands until it is moved: ``async with TestApp(app) as t``.

    Args:
        app: whose functions, pools, crons and tables run.
        start: where the clock stands first, aware.
        seed: of all randomness.
        database: a file to use; a fresh one in memory where not given.
        max_steps: after so many steps of one call a `VirtualTimeError` names the busiest functions.
        real_timeout: how long an action may wait on something real while the clock stands.
    """

    __test__: ClassVar[bool] = False  # pytest: not a class of tests

    def __init__(
        self,
        app: RxFerrix,
        *,
        start: datetime = START,
        seed: int = 0,
        database: str | Path | None = None,
        max_steps: int = 1_000_000,
        real_timeout: timedelta = timedelta(seconds=30),
    ) -> None:
        if checked_datetime(start, "start").utcoffset() is None:
            raise InstantError(f"start {start} has no time zone; give it one, such as tzinfo=UTC")
        self._app = _checked_app(app)
        self._clock = VirtualClock(start)
        options = app.options
        self._options = Options.checked(options.grace, options.keep, options.parallelism, seed)
        self._store = Store(database if database is not None else ":memory:")
        self._max_steps = checked_whole(max_steps, "max_steps", least=1)
        self._real_timeout = checked_duration(real_timeout, "real_timeout")
        self._running: tuple[Runtime, Stepper, TaskGroup] | None = None
        self._identity: Identity | None = None

    async def __aenter__(self) -> Self:
        """Open the database and start the engine; nothing runs until time is stepped."""
        self._store.open()
        try:
            await self._start()
        except BaseException:
            self._store.close()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Drop what runs, and close the database."""
        try:
            await self._crash()
        finally:
            self._store.close()

    async def _start(self) -> None:
        runtime = Runtime(
            self._app.registry, self._store, self._clock, self._options, is_inline=True
        )
        stepper = Stepper(runtime.engine, self._clock, self._max_steps, self._real_timeout)
        tasks = anyio.create_task_group()
        await tasks.__aenter__()
        self._running = (runtime, stepper, tasks)
        try:
            await runtime.engine.start_inline(tasks)
        except BaseException:
            await self._crash()
            raise

    async def _crash(self) -> None:
        if self._running is None:
            return
        runtime, _, tasks = self._running
        self._running = None
        runtime.engine.abandon()
        tasks.cancel_scope.cancel()
        await tasks.__aexit__(None, None, None)

    # --- time -----------------------------------------------------------------------------------
    def now(self) -> datetime:
        """Where the clock stands, aware and in UTC."""
        return self._clock.now()

    async def run_due_jobs(self) -> list[JobId]:
        """Run all that is due now and what that makes due; the jobs that ran, in order.

        Raises:
            VirtualTimeError: if an action waits on something real for too long, or there is no end.
        """
        return await self._stepper.run_due()

    async def advance_time(self, duration: timedelta) -> list[JobId]:
        """Move to now + `duration`, stopping wherever something happens.

        The jobs that ran, in order.

        Raises:
            InstantError: unless `duration` is a timedelta of zero or more.
            VirtualTimeError: if an action waits on something real for too long, or there is no end.
        """
        return await self._stepper.advance(checked_duration(duration, "advance_time"))

    async def restart(self, *, down_for: timedelta = timedelta(0)) -> None:
        """Crash, and start again `down_for` later; what was committed is there afterwards.

        Raises:
            InstantError: unless `down_for` is a timedelta of zero or more.
        """
        away = checked_duration(down_for, "restart")
        await self._crash()
        self._clock.move_to(self._clock.now() + away)
        if not self._store.is_in_memory:
            self._store.close()
            self._store.open()
        await self._start()

    def set_clock(self, instant: datetime) -> None:
        """Set the clock to any instant, also an earlier one, as a machine's clock may be set."""
        if instant.utcoffset() is None:
            raise InstantError(f"{instant} has no time zone; give it one, such as tzinfo=UTC")
        leap = instant - self._clock.now()
        self._clock.jump_to(instant)
        if self._running is not None and abs(leap) > LEAP:
            self._running[0].engine.clock_leapt()

    # --- the app's own verbs --------------------------------------------------------------------
    def as_user(self, identity: Identity, /) -> Self:
        """The same app in the same time, calling as this identity."""
        face = copy.copy(self)
        face._identity = checked_identity(identity)  # the same class
        return face

    @property
    def runtime(self) -> Runtime:
        """The engine and its functions.

        Raises:
            NotRunningError: outside `async with`.
        """
        if self._running is None:
            raise NotRunningError("the TestApp is not entered; use `async with TestApp(app) as t`")
        return self._running[0]

    @property
    def _stepper(self) -> Stepper:
        if self._running is None:
            raise NotRunningError("the TestApp is not entered; use `async with TestApp(app) as t`")
        return self._running[1]

    @property
    def _calling(self) -> Calling:
        return Calling(self.runtime, self._identity)

    @property
    def _operations(self) -> Operations:
        return Operations(self.runtime, self._identity)

    @property
    def _reading(self) -> Reading:
        return Reading(self.runtime)

    @overload
    async def run_query(self, fn: Query[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def run_query(self, fn: str, /, *args: object, **kwargs: object) -> Any: ...  # noqa: ANN401  # a name has no type
    async def run_query(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a query and return its result."""
        return await self._calling.run_query(fn, args, kwargs)

    @overload
    async def run_mutation(self, fn: Mutation[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def run_mutation(self, fn: str, /, *args: object, **kwargs: object) -> Any: ...  # noqa: ANN401  # a name has no type
    async def run_mutation(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run a mutation and return its result once it has committed."""
        return await self._calling.run_mutation(fn, args, kwargs)

    @overload
    async def run_action(self, fn: Action[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    @overload
    async def run_action(self, fn: str, /, *args: object, **kwargs: object) -> Any: ...  # noqa: ANN401  # a name has no type
    async def run_action(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Run an action and return its result.

        Where it sleeps, another task has to advance time.
        """
        return await self._calling.run_action(fn, args, kwargs)

    @property
    def scheduler(self) -> Scheduler:
        """The awaited scheduling verbs."""
        self._operations.permit("schedule")
        return Scheduler(self._calling.counter())

    def job(self, job: JobId, /) -> Job:
        """One job."""
        return self._reading.job(job)

    def jobs(
        self,
        *,
        state: JobState | Sequence[JobState] | None = None,
        function: str | None = None,
        pool: str | None = None,
        cron: str | None = None,
        limit: int = 1000,
    ) -> pd.DataFrame:
        """The newest jobs that match, newest first."""
        return self._reading.jobs(state, function, pool, cron, limit)

    async def wait(self, job: JobId, /) -> WorkResult[Any]:
        """How a job ended, once it has; another task has to advance time."""
        return await self._reading.wait(job)

    def handle(self, job: JobId, /) -> JobHandle:
        """A job that can be awaited for its `WorkResult`."""
        return JobHandle(job, self._reading)

    def sql(self, query: str, /, **params: object) -> pd.DataFrame:
        """The rows of a SELECT as a data frame."""
        return self._reading.sql(query, params).df()

    def rows(self, query: str, /, **params: object) -> Rows:
        """The rows of a SELECT, to take as pandas, polars or Arrow."""
        return self._reading.sql(query, params)

    def subscribe(self, fn: Query[P, R], /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[R]:
        """The query's result now, and again after each commit that changed a table it reads."""
        return self._calling.subscribe(fn, args, kwargs)

    def cancel(self, job: JobId, /) -> bool:
        """Cancel a job."""
        return self._operations.cancel(job)

    def rerun(self, job: JobId, /) -> JobId:
        """Make a new job like one that failed or was canceled."""
        return self._operations.rerun(job)

    def cancel_pool(self, name: str, /) -> PoolCancellation:
        """Cancel all that is queued or running in the pool."""
        return self._operations.cancel_pool(name)

    def run_cron_now(self, name: str, /) -> JobId:
        """Run a cron at once."""
        return self._operations.run_cron_now(name)

    def pause_cron(self, name: str, /) -> None:
        """Let a cron make no jobs until it is resumed."""
        self._operations.pause_cron(name)

    def resume_cron(self, name: str, /) -> None:
        """Let a paused cron go on from now."""
        self._operations.resume_cron(name)

    def remove_cron(self, name: str, /) -> None:
        """Take a cron out with its pending job."""
        self._operations.remove_cron(name)

    def backup(self, path: str | Path, /) -> None:
        """Copy a consistent state of the database into a new file."""
        self._operations.backup(path)

    def resize_pool(self, name: str, max_parallelism: int, /) -> None:
        """Give a pool another number of slots."""
        self._operations.resize_pool(name, max_parallelism)

    async def reconcile(self) -> None:
        """Take over what the app declared since the start, as a running app does by itself."""
        self.runtime.engine.reconcile_soon().result()


def _checked_app(app: object) -> RxFerrix:
    if not isinstance(app, RxFerrix):
        raise TypeError(f"TestApp takes a RxFerrix, not {app!r:.60}")
    return app
