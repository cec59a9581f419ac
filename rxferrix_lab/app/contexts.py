"""What a function is handed: `ctx` in a query, a mutation, an async action, a plain `def` action.

Each gives the verbs that its colour may use, and is dead once its function has returned.
"""

import math
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import msgspec

from rxferrix_lab.app.database import Database
from rxferrix_lab.app.functions import Action, Mutation, Query
from rxferrix_lab.app.mutation_desk import MutationDesk
from rxferrix_lab.app.scheduling import Scheduler, SyncScheduler, TransactionalScheduler
from rxferrix_lab.domain.asked_time import checked_duration
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.engine.attempt import Attempt
from rxferrix_lab.engine.program import Execution, Identity
from rxferrix_lab.storage.snapshot import Snapshot
from rxferrix_lab.storage.user_tables import UserTables

if TYPE_CHECKING:
    from rxferrix_lab.app.action_desk import ActionDesk

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


class QueryCtx:
    """What a query is handed.

    Attributes:
        db: the tables, to read.
        identity: who calls; None for scheduled functions and the program itself.
    """

    def __init__(
        self, execution: Execution, side: Snapshot | UserTables, check: Callable[[], None]
    ) -> None:
        self._execution = execution
        self._check = check
        self.identity: Identity | None = execution.identity
        self.db = Database(side, check)

    def now(self) -> datetime:
        """The instant of this execution, aware and in UTC; it does not move."""
        self._check()
        return self._execution.now


class MutationCtx(QueryCtx):
    """What a mutation is handed.

    Attributes:
        db: the tables, to read and write inside the transaction.
        scheduler: schedules and cancels inside the transaction.
    """

    def __init__(self, desk: MutationDesk) -> None:
        super().__init__(desk.execution, UserTables(desk.transaction), desk.check)
        self.scheduler = TransactionalScheduler(desk)
        self._random: Random | None = None

    @property
    def random(self) -> Random:
        """A source of randomness seeded by the execution: a replay draws the same."""
        self._check()
        if self._random is None:
            self._random = Random(self._execution.seed)  # not a secret
        return self._random


class _ActionFacts:
    """What both kinds of action contexts know without waiting."""

    def __init__(self, desk: "ActionDesk") -> None:
        self._desk = desk

    @property
    def identity(self) -> Identity | None:
        """Who calls; None for scheduled actions and the program itself."""
        return self._attempt.execution.identity

    @property
    def job_id(self) -> JobId | None:
        """The job that runs; None when somebody called the action."""
        return self._attempt.execution.job

    @property
    def attempt(self) -> int:
        """Which attempt this is, from 1."""
        return self._attempt.execution.attempt

    @property
    def _attempt(self) -> Attempt:
        return self._desk.attempt

    def now(self) -> datetime:
        """The present instant, aware and in UTC."""
        return self._desk.now()

    def is_canceled(self) -> bool:
        """Whether the action was asked to stop. It should; it is aborted when its grace is over."""
        return self._attempt.is_stopping

    def cleanup(self) -> AbstractContextManager[None]:
        """A block that cancellation does not reach until the grace ends, for tidying up."""
        return self._attempt.cleaning_up()

    def progress(self, done: float, total: float = 1.0, note: str = "") -> None:
        """Tell how far the action is; shown live, and kept with the attempt.

        Raises:
            ValueError: for numbers that are not finite, or a total that is not above zero.
        """
        if not (math.isfinite(done) and math.isfinite(total) and total > 0):
            raise ValueError(f"progress is told as two finite numbers, not {done!r} of {total!r}")
        told = {"done": done, "total": total, "note": str(note)[:500]}
        self._desk.tell_progress(msgspec.json.encode(told).decode())


class ActionCtx(_ActionFacts):
    """What an `async def` action is handed."""

    def __init__(self, desk: "ActionDesk") -> None:
        super().__init__(desk)
        self.scheduler = Scheduler(desk)

    async def canceled(self) -> None:
        """Return once the action is asked to stop."""
        await self._desk.until_asked()

    async def or_canceled(self, work: Awaitable[T], /) -> T:
        """The value of `work`, or ActionCanceled as soon as the action is asked to stop.

        Raises:
            ActionCanceled: if the action was asked to stop first; the work is cancelled then.
        """
        return await self._desk.or_canceled(work)

    async def sleep(self, duration: timedelta) -> None:
        """Wait on the app's clock; takes no time under a virtual one.

        Raises:
            InstantError: unless `duration` is a timedelta from zero to ten years.
        """
        await self._desk.sleep(checked_duration(duration, "sleep"))

    async def run_query(self, fn: Query[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a query and return its result."""
        return await self._desk.run_query(fn, args, kwargs)

    async def run_mutation(self, fn: Mutation[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a mutation in a transaction of its own and return its result, once committed."""
        return await self._desk.run_mutation(fn, args, kwargs)

    async def run_action(self, fn: Action[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run another action inside this one and return its result."""
        return await self._desk.run_action(fn, args, kwargs)


class SyncActionCtx(_ActionFacts):
    """What a plain `def` action is handed, in a thread of its own: the same verbs, blocking."""

    def __init__(self, desk: "ActionDesk") -> None:
        super().__init__(desk)
        self.scheduler = SyncScheduler(desk)

    def canceled(self) -> None:
        """Return once the action is asked to stop."""
        self._desk.from_thread(self._desk.until_asked, on_clock=True)

    def or_canceled(self, work: Awaitable[T], /) -> T:
        """The value of `work`, run on the app's event loop, or ActionCanceled once asked to stop.

        Raises:
            ActionCanceled: if the action was asked to stop first; the work is cancelled then.
        """
        return self._desk.from_thread(lambda: self._desk.or_canceled(work))

    def sleep(self, duration: timedelta) -> None:
        """Wait on the app's clock; takes no time under a virtual one.

        Raises:
            InstantError: unless `duration` is a timedelta from zero to ten years.
        """
        wait = checked_duration(duration, "sleep")
        self._desk.from_thread(lambda: self._desk.sleep(wait), on_clock=True)

    def run_query(self, fn: Query[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a query and return its result."""
        return self._desk.from_thread(lambda: self._desk.run_query(fn, args, kwargs))

    def run_mutation(self, fn: Mutation[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run a mutation in a transaction of its own and return its result, once committed."""
        return self._desk.from_thread(lambda: self._desk.run_mutation(fn, args, kwargs))

    def run_action(self, fn: Action[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run another action inside this one and return its result."""
        return self._desk.from_thread(lambda: self._desk.run_action(fn, args, kwargs))
