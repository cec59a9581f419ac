"""The declaring half of an app: decorators, tables, pools, crons and intervals."""

import sys
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Concatenate, Never, ParamSpec, Self, TypeVar, overload

from rxferrix_lab.app.contexts import ActionCtx, MutationCtx, QueryCtx, SyncActionCtx
from rxferrix_lab.app.decorators import (
    ActionDecorator,
    MutationDecorator,
    Naming,
    QueryDecorator,
)
from rxferrix_lab.app.functions import (
    Action,
    Mutation,
    Query,
    Schedulable,
    check_action,
    check_name,
    check_plain,
)
from rxferrix_lab.app.plan import schedulable
from rxferrix_lab.app.registry import Registry
from rxferrix_lab.domain.asked_time import checked_timedelta
from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.cron_record import CronKind, DeclaredCron
from rxferrix_lab.domain.epoch import EPOCH
from rxferrix_lab.domain.schedule import Interval
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.errors import TableError

if TYPE_CHECKING:
    from typing_extensions import deprecated
else:

    def deprecated(_message: str) -> Callable[[Any], Any]:
        """Only the type checkers look at this one."""
        return lambda overloaded: overloaded


P = ParamSpec("P")
R = TypeVar("R")
LONGEST_CRON_NAME = 200


class Declaring:
    """What an app declares.

    Each verb checks at once, and gives back the app so that calls chain.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry

    @property
    def registry(self) -> Registry:
        """All that was declared."""
        return self._registry

    def _declared(self) -> None:
        """Something was declared: a running engine takes it over."""

    # --- functions ------------------------------------------------------------------------------
    @overload
    @deprecated("a transaction cannot await: write a plain def, or an action")
    def query(
        self, fn: Callable[Concatenate[QueryCtx, P], Coroutine[Any, Any, Any]], /
    ) -> Never: ...
    @overload
    def query(self, fn: Callable[Concatenate[QueryCtx, P], R], /) -> Query[P, R]: ...
    @overload
    def query(self, /, *, name: str | None = None, internal: bool = False) -> QueryDecorator: ...
    def query(
        self,
        fn: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        internal: bool = False,
    ) -> Any:
        """Register a plain `def` that reads inside one read-only snapshot.

        Raises:
            FunctionDefinitionError: for an `async def`, or types that cannot be carried.
            DuplicateNameError: if the name is taken, outside an interactive session.
        """
        naming = Naming(name, internal)
        return self._query(fn, naming) if fn is not None else partial(self._query, naming=naming)

    def _query(self, fn: Callable[..., Any], naming: Naming) -> Query[..., Any]:
        check_plain(fn, "query")
        query: Query[..., Any] = Query(fn, check_name(naming.of(fn)), internal=naming.internal)
        self._registry.add_function(query)
        return query

    @overload
    @deprecated("a transaction cannot await: write a plain def, or an action")
    def mutation(
        self, fn: Callable[Concatenate[MutationCtx, P], Coroutine[Any, Any, Any]], /
    ) -> Never: ...
    @overload
    def mutation(self, fn: Callable[Concatenate[MutationCtx, P], R], /) -> Mutation[P, R]: ...
    @overload
    def mutation(
        self, /, *, name: str | None = None, internal: bool = False
    ) -> MutationDecorator: ...
    def mutation(
        self,
        fn: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        internal: bool = False,
    ) -> Any:
        """Register a plain `def` that reads and writes inside one serialisable transaction.

        Raises:
            FunctionDefinitionError: for an `async def`, or types that cannot be carried.
            DuplicateNameError: if the name is taken, outside an interactive session.
        """
        naming = Naming(name, internal)
        if fn is not None:
            return self._mutation(fn, naming)
        return partial(self._mutation, naming=naming)

    def _mutation(self, fn: Callable[..., Any], naming: Naming) -> Mutation[..., Any]:
        check_plain(fn, "mutation")
        name = check_name(naming.of(fn))
        mutation: Mutation[..., Any] = Mutation(fn, name, internal=naming.internal)
        self._registry.add_function(mutation)
        self._declared()
        return mutation

    @overload
    def action(self, fn: Callable[Concatenate[ActionCtx, P], Awaitable[R]], /) -> Action[P, R]: ...
    @overload
    def action(self, fn: Callable[Concatenate[SyncActionCtx, P], R], /) -> Action[P, R]: ...
    @overload
    def action(
        self,
        /,
        *,
        name: str | None = None,
        internal: bool = False,
        grace: timedelta | None = None,
        timeout: timedelta | None = None,
    ) -> ActionDecorator: ...
    def action(
        self,
        fn: Callable[..., Any] | None = None,
        /,
        *,
        name: str | None = None,
        internal: bool = False,
        grace: timedelta | None = None,
        timeout: timedelta | None = None,
    ) -> Any:
        """Register an `async def`, or a plain `def` that runs in a thread, which may do anything.

        Args:
            fn: the function; its first parameter is the context.
            name: the durable name, where it is not the function's own.
            internal: callable only by functions, the scheduler, an admin and the program itself.
            grace: how long it may go on after it was asked to stop; the app's where not given.
            timeout: after which it is asked to stop and fails with cause `timeout`.

        Raises:
            FunctionDefinitionError: for a generator, or types that cannot be carried.
            DuplicateNameError: if the name is taken, outside an interactive session.
        """
        naming = Naming(name, internal)

        def register(fn: Callable[..., Any]) -> Action[..., Any]:
            check_action(fn)
            registered = check_name(naming.of(fn))
            action: Action[..., Any] = Action(
                fn, registered, internal=internal, grace=grace, timeout=timeout
            )
            self._registry.add_function(action)
            self._declared()
            return action

        return register(fn) if fn is not None else register

    # --- tables, pools, crons -------------------------------------------------------------------
    def table(self, name: str, columns: str, /) -> Self:
        """Declare a table with a BIGINT id and these columns, made at the start where it is absent.

        Args:
            name: a letter, then letters, digits or underscores.
            columns: SQL, such as ``"text VARCHAR, size BIGINT"``.

        Raises:
            ReservedTableError: for a name of the scheduler's.
            TableError: for a name or columns that make no table; the columns are looked at when
                the app starts, or at once where it runs.
            DuplicateNameError: if the name is taken, outside an interactive session.
        """
        self._registry.add_table(name, columns)
        try:
            self._declared()
        except TableError:
            self._registry.tables.pop(name, None)
            raise
        return self

    def workpool(self, pool: Workpool, /) -> Self:
        """Declare a pool."""
        self._registry.add_pool(pool)
        self._declared()
        return self

    def cron(
        self, name: str, expr: str, fn: Schedulable[P, Any], /, *args: P.args, **kwargs: P.kwargs
    ) -> Self:
        """Run a mutation or an action at the times of a six-field expression in UTC.

        Raises:
            CronSyntaxError: for an expression that is not one, or never matches.
            NotSchedulableError, ArgumentsError: if the target does not fit.
        """
        return self._cron(name, expr, "UTC", fn, args, kwargs)

    def cron_tz(
        self,
        name: str,
        expr: str,
        zone: str,
        fn: Schedulable[P, Any],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Self:
        """Run a mutation or an action at the times of a six-field expression in an IANA zone.

        Raises:
            CronSyntaxError, UnknownZoneError: for an expression or a zone that is none.
            NotSchedulableError, ArgumentsError: if the target does not fit.
        """
        return self._cron(name, expr, zone, fn, args, kwargs)

    def interval(
        self,
        name: str,
        every: timedelta,
        fn: Schedulable[P, Any],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Self:
        """Run a mutation or an action now, then every so often, without drift.

        Raises:
            InstantError: for a period below one second or above ten years.
            NotSchedulableError, ArgumentsError: if the target does not fit.
        """
        Interval(checked_timedelta(every, "interval"), EPOCH)
        every_us = every // timedelta(microseconds=1)
        return self._declare(name, "interval", (None, None, every_us), fn, args, kwargs)

    def _cron(  # the parts of a declaration
        self,
        name: str,
        expr: str,
        zone: str,
        fn: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Self:
        schedule = CronSchedule(expr, zone)
        return self._declare(name, "cron", (schedule.expr, zone, None), fn, args, kwargs)

    def _declare(  # the parts of a declaration
        self,
        name: str,
        kind: CronKind,
        schedule: tuple[str | None, str | None, int | None],
        fn: object,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Self:
        _check_cron_name(name)
        target = schedulable(self._registry, fn)
        encoded = target.signature.encode(args, kwargs)
        self._registry.add_cron(DeclaredCron(name, kind, *schedule, target.name, encoded))
        self._declared()
        return self


def _check_cron_name(name: object) -> None:
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_CRON_NAME:
        raise ValueError(
            f"a cron's name is text of 1 to {LONGEST_CRON_NAME} characters: {name!r:.60}"
        )


def is_interactive_session() -> bool:
    """Whether functions are being written cell by cell."""
    if hasattr(sys, "ps1"):
        return True
    shell = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return shell is not None and shell() is not None
