"""The verbs of a scheduler, in three voices: in a transaction, awaited, and blocking.

Every verb checks what it was given, then writes through one `Desk`; nothing is written before all
is checked. Options are builders that give back a new object.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, ParamSpec, Protocol, Self, TypeVar, cast

from rxferrix_lab.app.functions import Action, Mutation, Schedulable
from rxferrix_lab.app.plan import Call, Plan
from rxferrix_lab.app.registry import Registry
from rxferrix_lab.domain.asked_time import instant_after, instant_at
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.outcome import WorkResult
from rxferrix_lab.engine.cancellation import PoolCancellation
from rxferrix_lab.errors import ArgumentsError

P = ParamSpec("P")
C = TypeVar("C")
T = TypeVar("T")
Due = Callable[[datetime], datetime]  # from now to the instant that was asked for
Arguments = tuple[Any, ...]  # of one job of many, by position; checked against its function


class Desk(Protocol):
    """Where a transactional scheduler writes.

    The running mutation, or nothing once it has ended.
    """

    registry: Registry

    def add(self, plan: Plan, calls: list[Call], due: Due) -> list[JobId]:
        """Make the jobs."""
        ...

    def cancel(self, job: JobId) -> bool:
        """Cancel a job."""
        ...

    def cancel_pool(self, name: str) -> PoolCancellation:
        """Cancel what a pool holds."""
        ...


def after(delay: timedelta) -> Due:
    """Due so long from now; checked at once."""
    return lambda now: instant_after(delay, now)


def at(when: datetime | int) -> Due:
    """Due at an instant."""
    return lambda now: instant_at(when, now)


def many(plan: Plan, registry: Registry, function: object, calls: Iterable[object]) -> list[Call]:
    """The calls of many jobs of one function.

    Raises:
        ArgumentsError: unless each is a tuple of arguments that fits; nothing is written then.
    """
    checked: list[Call] = []
    for arguments in calls:
        if not isinstance(arguments, tuple):
            raise ArgumentsError(
                getattr(function, "name", "enqueue_many"),
                f"each job's arguments are a tuple such as (1, 'x'), not {arguments!r:.60}",
            )
        given: Arguments = tuple(cast("Iterable[Any]", arguments))
        checked.append(plan.call(registry, function, given, {}))
    return checked


class TransactionalScheduler:
    """`ctx.scheduler` in a mutation: what it does is part of the transaction."""

    __slots__ = ("_desk", "_plan")

    def __init__(self, desk: Desk, plan: Plan | None = None) -> None:
        self._desk = desk
        self._plan = plan if plan is not None else Plan()

    def run_after(
        self, delay: timedelta, fn: Schedulable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Schedule a mutation or an action `delay` from now; the id of the new job.

        Raises:
            NotSchedulableError, ArgumentsError, InstantError: before anything is written.
        """
        return self._add(after(delay), self._plan.call(self._desk.registry, fn, args, kwargs))

    def run_at(
        self, when: datetime | int, fn: Schedulable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Schedule at an aware datetime or Unix milliseconds; a past one is due now.

        Raises:
            NotSchedulableError, ArgumentsError, InstantError: before anything is written.
        """
        return self._add(at(when), self._plan.call(self._desk.registry, fn, args, kwargs))

    def with_retries(self, retries: int, /) -> Self:
        """The same scheduler, whose actions are tried again so often after they fail.

        Raises:
            RetriesError: unless `retries` is a whole number of zero or more.
        """
        return type(self)(self._desk, self._plan.with_retries(retries))

    def cancel(self, job: JobId, /) -> bool:
        """Cancel a job; True where this call stopped or is stopping it.

        Raises:
            UnknownJobError: if there is no such job.
        """
        return self._desk.cancel(job)

    def pool(self, name: str, /) -> "TransactionalPool":
        """The declared pool of that name.

        Raises:
            UnknownPoolError: if there is none.
        """
        return TransactionalPool(self._desk, self._plan.in_pool(name, self._desk.registry))

    def cancel_pool(self, name: str, /) -> PoolCancellation:
        """Cancel all that is queued or running in the pool at this moment."""
        return self._desk.cancel_pool(name)

    def _add(self, due: Due, call: Call) -> JobId:
        return self._desk.add(self._plan, [call], due)[0]


class TransactionalPool:
    """A pool in a mutation."""

    __slots__ = ("_desk", "_plan")

    def __init__(self, desk: Desk, plan: Plan) -> None:
        self._desk = desk
        self._plan = plan

    def with_retries(self, retries: int, /) -> Self:
        """The same pool with another number of retries for these jobs."""
        return type(self)(self._desk, self._plan.with_retries(retries))

    def on_complete(self, fn: Mutation[[JobId, C, WorkResult[Any]], Any], context: C, /) -> Self:
        """The same pool; `fn(ctx, work_id, context, result)` runs exactly once when a job ends."""
        return type(self)(self._desk, self._plan.completing_with(fn, context))

    def enqueue(self, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> JobId:
        """Queue an action."""
        return self._add(after(timedelta(0)), fn, args, kwargs)

    def enqueue_after(
        self, delay: timedelta, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Queue an action that may begin `delay` from now."""
        return self._add(after(delay), fn, args, kwargs)

    def enqueue_at(
        self, when: datetime | int, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Queue an action that may begin at an instant."""
        return self._add(at(when), fn, args, kwargs)

    def enqueue_many(self, fn: Action[..., Any], calls: Iterable[Arguments], /) -> list[JobId]:
        """Queue one action for each tuple of arguments, in one commit."""
        checked = many(self._plan, self._desk.registry, fn, calls)
        return self._desk.add(self._plan, checked, after(timedelta(0)))

    def _add(self, due: Due, fn: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> JobId:
        call = self._plan.call(self._desk.registry, fn, args, kwargs)
        return self._desk.add(self._plan, [call], due)[0]


class Counter(Protocol):
    """Where the awaited and the blocking schedulers hand in.

    Each request is a commit of its own.
    """

    registry: Registry

    async def handed_in(self, body: Callable[[Desk], T], *, cancels: bool = False) -> T:
        """Run the body in a transaction of its own."""
        ...

    def hand_in(self, body: Callable[[Desk], T], *, cancels: bool = False) -> T:
        """The same, blocking."""
        ...

    def check(self, *, cancels: bool = False) -> None:
        """Refuse what may not be asked here and now."""
        ...


class _Verbs:
    """The checked bodies that the awaited and the blocking voice share."""

    __slots__ = ("_counter", "_plan")

    def __init__(self, counter: Counter, plan: Plan | None = None) -> None:
        self._counter = counter
        self._plan = plan if plan is not None else Plan()

    def with_retries(self, retries: int, /) -> Self:
        """The same, whose actions are tried again so often after they fail.

        Raises:
            RetriesError: unless `retries` is a whole number of zero or more.
        """
        return type(self)(self._counter, self._plan.with_retries(retries))

    def _adding(
        self, due: Due, fn: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Callable[[Desk], JobId]:
        self._counter.check()
        call = self._plan.call(self._counter.registry, fn, args, kwargs)
        plan = self._plan
        return lambda desk: desk.add(plan, [call], due)[0]

    def _adding_many(self, fn: object, calls: Iterable[Arguments]) -> Callable[[Desk], list[JobId]]:
        self._counter.check()
        checked = many(self._plan, self._counter.registry, fn, calls)
        plan = self._plan
        return lambda desk: desk.add(plan, checked, after(timedelta(0)))

    def _in_pool(self, name: str) -> Plan:
        return self._plan.in_pool(name, self._counter.registry)

    def _completing(self, fn: object, context: object) -> Self:
        return type(self)(self._counter, self._plan.completing_with(fn, context))


class Scheduler(_Verbs):
    """`ctx.scheduler` in an async action, and `app.scheduler`: the verbs are awaited."""

    __slots__ = ()

    async def run_after(
        self, delay: timedelta, fn: Schedulable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Schedule a mutation or an action `delay` from now; the id of the new job."""
        return await self._counter.handed_in(self._adding(after(delay), fn, args, kwargs))

    async def run_at(
        self, when: datetime | int, fn: Schedulable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Schedule at an aware datetime or Unix milliseconds; a past one is due now."""
        return await self._counter.handed_in(self._adding(at(when), fn, args, kwargs))

    async def cancel(self, job: JobId, /) -> bool:
        """Cancel a job; True where this call stopped or is stopping it."""
        return await self._counter.handed_in(lambda desk: desk.cancel(job), cancels=True)

    def pool(self, name: str, /) -> "Pool":
        """The declared pool of that name."""
        return Pool(self._counter, self._in_pool(name))

    async def cancel_pool(self, name: str, /) -> PoolCancellation:
        """Cancel all that is queued or running in the pool at this moment."""
        return await self._counter.handed_in(lambda desk: desk.cancel_pool(name), cancels=True)


class Pool(_Verbs):
    """A pool, awaited."""

    __slots__ = ()

    def on_complete(self, fn: Mutation[[JobId, C, WorkResult[Any]], Any], context: C, /) -> Self:
        """The same pool; `fn(ctx, work_id, context, result)` runs exactly once when a job ends."""
        return self._completing(fn, context)

    async def enqueue(self, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> JobId:
        """Queue an action."""
        return await self._counter.handed_in(self._adding(after(timedelta(0)), fn, args, kwargs))

    async def enqueue_after(
        self, delay: timedelta, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Queue an action that may begin `delay` from now."""
        return await self._counter.handed_in(self._adding(after(delay), fn, args, kwargs))

    async def enqueue_at(
        self, when: datetime | int, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Queue an action that may begin at an instant."""
        return await self._counter.handed_in(self._adding(at(when), fn, args, kwargs))

    async def enqueue_many(
        self, fn: Action[..., Any], calls: Iterable[Arguments], /
    ) -> list[JobId]:
        """Queue one action for each tuple of arguments, in one commit."""
        return await self._counter.handed_in(self._adding_many(fn, calls))


class SyncScheduler(_Verbs):
    """`ctx.scheduler` in a plain `def` action: the verbs block."""

    __slots__ = ()

    def run_after(
        self, delay: timedelta, fn: Schedulable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Schedule a mutation or an action `delay` from now; the id of the new job."""
        return self._counter.hand_in(self._adding(after(delay), fn, args, kwargs))

    def run_at(
        self, when: datetime | int, fn: Schedulable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Schedule at an aware datetime or Unix milliseconds; a past one is due now."""
        return self._counter.hand_in(self._adding(at(when), fn, args, kwargs))

    def cancel(self, job: JobId, /) -> bool:
        """Cancel a job; True where this call stopped or is stopping it."""
        return self._counter.hand_in(lambda desk: desk.cancel(job), cancels=True)

    def pool(self, name: str, /) -> "SyncPool":
        """The declared pool of that name."""
        return SyncPool(self._counter, self._in_pool(name))

    def cancel_pool(self, name: str, /) -> PoolCancellation:
        """Cancel all that is queued or running in the pool at this moment."""
        return self._counter.hand_in(lambda desk: desk.cancel_pool(name), cancels=True)


class SyncPool(_Verbs):
    """A pool, blocking."""

    __slots__ = ()

    def on_complete(self, fn: Mutation[[JobId, C, WorkResult[Any]], Any], context: C, /) -> Self:
        """The same pool; `fn(ctx, work_id, context, result)` runs exactly once when a job ends."""
        return self._completing(fn, context)

    def enqueue(self, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs) -> JobId:
        """Queue an action."""
        return self._counter.hand_in(self._adding(after(timedelta(0)), fn, args, kwargs))

    def enqueue_after(
        self, delay: timedelta, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Queue an action that may begin `delay` from now."""
        return self._counter.hand_in(self._adding(after(delay), fn, args, kwargs))

    def enqueue_at(
        self, when: datetime | int, fn: Action[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> JobId:
        """Queue an action that may begin at an instant."""
        return self._counter.hand_in(self._adding(at(when), fn, args, kwargs))

    def enqueue_many(self, fn: Action[..., Any], calls: Iterable[Arguments], /) -> list[JobId]:
        """Queue one action for each tuple of arguments, in one commit."""
        return self._counter.hand_in(self._adding_many(fn, calls))
