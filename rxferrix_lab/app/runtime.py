"""A registry at work: one engine, and the ways to call functions through it.

The engine's view of the program (`engine.program.Program`), and the app's view of the engine.
Checks arguments and permissions; writes no SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from itertools import count
from typing import Any, TypeVar

import anyio.lowlevel

from rxferrix_lab.app.completions import completion_args
from rxferrix_lab.app.contexts import QueryCtx
from rxferrix_lab.app.functions import Action, Mutation, Query, Registered
from rxferrix_lab.app.lifetime import Lifetime
from rxferrix_lab.app.mutation_desk import MutationDesk
from rxferrix_lab.app.registry import Registry
from rxferrix_lab.app.runners import ActionRunner, MutationRunner
from rxferrix_lab.app.scheduling import Desk
from rxferrix_lab.domain.cron_record import DeclaredCron
from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.engine.attempt import Attempt
from rxferrix_lab.engine.clock import Clock, VirtualClock
from rxferrix_lab.engine.engine import Engine, completing
from rxferrix_lab.engine.loop import result_of
from rxferrix_lab.engine.options import Options
from rxferrix_lab.engine.program import Execution, Identity
from rxferrix_lab.engine.stepped import SteppedService
from rxferrix_lab.errors import BlockingCallError, NotRunningError, PermissionDeniedError
from rxferrix_lab.storage.store import Store
from rxferrix_lab.storage.transaction import Transaction

T = TypeVar("T")
F = TypeVar("F", bound=Registered[..., Any])
Args = tuple[Any, ...]  # checked by the function's signature
Kwargs = Mapping[str, Any]
READERS = 4


class Runtime:
    """One engine with the functions that it runs."""

    def __init__(
        self,
        registry: Registry,
        store: Store,
        clock: Clock,
        options: Options,
        *,
        is_inline: bool = False,
    ) -> None:
        self.registry = registry
        self.engine = Engine(store, clock, self, options)
        self._readers = (
            None if is_inline else ThreadPoolExecutor(READERS, thread_name_prefix="rxferrix-reader")
        )
        self.has_ended = False
        self._calls = count(1)
        self._removed: dict[str, DeclaredCron] = {}  # by an operator; the declarations of then
        self.stepped: SteppedService | None = None  # null on a real clock, and where a test steps
        if isinstance(clock, VirtualClock) and not is_inline:
            self.stepped = SteppedService(self.engine, clock)

    async def serve(self, started: Callable[[], object]) -> None:
        """Run the engine until it is asked to stop."""
        service = self.stepped if self.stepped is not None else self.engine
        await service.serve(started)

    def close(self) -> None:
        """Give the readers' threads back; nothing is answered from now on."""
        self.has_ended = True
        if self._readers is not None:
            self._readers.shutdown(wait=False)  # what is queued hears that the app has stopped

    # --- the engine's view ----------------------------------------------------------------------
    @property
    def is_interactive(self) -> bool:
        """Whether cells may declare more later."""
        return self.registry.is_interactive

    @property
    def crons(self) -> Mapping[str, DeclaredCron]:
        """The declared crons and intervals, but for those that an operator took out since."""
        declared, removed = self.registry.crons, self._removed
        if not removed:
            return declared
        return {name: cron for name, cron in declared.items() if removed.get(name) is not cron}

    def leave_out(self, name: str) -> None:
        """Treat a cron as not declared, until it is declared again or the app starts."""
        if name in self.registry.crons:
            self._removed[name] = self.registry.crons[name]

    def take_in(self, name: str) -> None:
        """Treat a cron as declared again."""
        self._removed.pop(name, None)

    @property
    def pools(self) -> Mapping[str, Workpool]:
        """The declared pools."""
        return self.registry.pools

    @property
    def tables(self) -> Mapping[str, str]:
        """The declared tables: name to columns."""
        return self.registry.tables

    def mutation(self, name: str) -> MutationRunner | None:
        """The mutation of that name, if there is one."""
        found = self.registry.functions.get(name)
        return MutationRunner(found, self) if isinstance(found, Mutation) else None

    def action(self, name: str) -> ActionRunner | None:
        """The action of that name, if there is one."""
        found = self.registry.functions.get(name)
        return ActionRunner(found, self) if isinstance(found, Action) else None

    def completion_args(self, job: JobRecord) -> str:
        """The arguments of a job's `on_complete` mutation, as JSON."""
        return completion_args(job)

    def refuse_inside_mutation(self, verb: str) -> None:
        """Refuse what would wait for the transaction that is asking.

        Raises:
            BlockingCallError: inside a mutation.
        """
        if self.engine.is_in_mutation():
            raise BlockingCallError(verb)

    def take_over_declared(self) -> None:
        """Make what was declared since the start known to the engine.

        Waits, so that a table that cannot be made is told where it was declared; not on the
        engine's own loop or inside a mutation, where that would wait for itself.
        """
        engine = self.engine
        taken = engine.reconcile_soon()
        if not engine.is_in_mutation() and (engine.loop is None or not engine.loop.is_current()):
            with suppress(NotRunningError):  # the next start takes it over
                taken.result()

    # --- calls ----------------------------------------------------------------------------------
    def execution(self, function: str, identity: Identity | None) -> Execution:
        """An execution that a user or the program itself asks for."""
        return Execution(
            function,
            self.engine.clock.now(),
            f"{self.engine.options.seed}:call:{next(self._calls)}",
            "program" if identity is None else "user",
            identity,
        )

    async def run_query(
        self, fn: Query[..., T], args: Args, kwargs: Kwargs, caller: Execution
    ) -> T:
        """Run a query in a snapshot of its own and return its result."""
        look = self._query(fn, args, kwargs, caller)
        if self._readers is None:
            await anyio.lowlevel.checkpoint()
            return look()
        return await result_of(self.read_soon(look))

    async def query_with_tables(
        self, fn: Query[..., T], args: Args, kwargs: Kwargs, caller: Execution, tables: set[str]
    ) -> T:
        """Run a query; adds the tables that it read, in lower case, to `tables`."""

        def look() -> T:
            return self.query_noting(fn, args, kwargs, caller, tables)

        if self._readers is None:
            await anyio.lowlevel.checkpoint()
            return look()
        return await result_of(self.read_soon(look))

    def query_soon(
        self, fn: Query[..., T], args: Args, kwargs: Kwargs, caller: Execution
    ) -> Future[T]:
        """Run a query on a reader's thread."""
        return self.read_soon(self._query(fn, args, kwargs, caller))

    def read_soon(self, look: Callable[[], T]) -> Future[T]:
        """Run something that reads on a reader's thread, where Ctrl-C does not interrupt it."""
        if self._readers is None:
            return _done(look)
        try:
            return self._readers.submit(self.engine.store.lasting, look)
        except RuntimeError:  # they were given back
            raise NotRunningError("the app has stopped") from None

    def _query(
        self, fn: Query[..., T], args: Args, kwargs: Kwargs, caller: Execution
    ) -> Callable[[], T]:
        return lambda: self.query_noting(fn, args, kwargs, caller, None)

    def query_noting(
        self,
        fn: Query[..., T],
        args: Args,
        kwargs: Kwargs,
        caller: Execution,
        tables: set[str] | None,
    ) -> T:
        """Run a query here and now; adds the tables that it read to `tables`."""
        return self.engine.store.lasting(lambda: self._query_once(fn, args, kwargs, caller, tables))

    def _query_once(
        self,
        fn: Query[..., T],
        args: Args,
        kwargs: Kwargs,
        caller: Execution,
        tables: set[str] | None,
    ) -> T:
        signature = fn.signature
        given, named = signature.call_arguments(signature.encode(args, kwargs))
        execution = replace(caller, function=fn.name, now=self.engine.clock.now())
        lifetime = Lifetime(fn.name)
        with self.engine.store.snapshot() as snapshot:
            snapshot.is_noting = tables is not None
            try:
                context = QueryCtx(execution, snapshot, lifetime.check)
                result = fn.function(context, *given, **named)
            finally:
                lifetime.end()
        if tables is not None:
            tables |= snapshot.tables
        return signature.decode_result(signature.encode_result(result))  # type: ignore[return-value]  # as annotated

    def mutation_soon(
        self, fn: Mutation[..., T], args: Args, kwargs: Kwargs, caller: Execution
    ) -> Future[str]:
        """Hand a mutation in; the future has its result as JSON once it has committed."""
        runner = MutationRunner(fn, self)
        arguments = runner.prepare(fn.signature.encode(args, kwargs))
        # Each execution draws its own numbers, also the second one that an action asks for.
        execution = replace(caller, function=fn.name, seed=f"{caller.seed}:{next(self._calls)}")
        future: Future[str] = Future()
        request = self.engine.mutations.of_call(runner, execution, arguments, completing(future))
        self.engine.submit(request)
        return future

    async def run_mutation(
        self, fn: Mutation[..., T], args: Args, kwargs: Kwargs, caller: Execution
    ) -> T:
        """Run a mutation and return its result once it has committed."""
        encoded = await result_of(self.mutation_soon(fn, args, kwargs, caller))
        return fn.signature.decode_result(encoded)  # type: ignore[return-value]  # as annotated

    async def run_action(
        self, fn: Action[..., T], args: Args, kwargs: Kwargs, caller: Execution
    ) -> T:
        """Run an action in this task, on the engine's loop, and return its result."""
        runner = ActionRunner(fn, self)
        arguments = runner.prepare(fn.signature.encode(args, kwargs))
        attempts = self.engine.attempts
        attempt = attempts.new(replace(caller, function=fn.name), runner, None)
        encoded = await attempts.run_called(attempt, runner, arguments)
        return fn.signature.decode_result(encoded)  # type: ignore[return-value]  # as annotated

    async def run_inner_action(
        self, fn: Action[..., T], args: Args, kwargs: Kwargs, outer: Attempt
    ) -> T:
        """Run an action inside another one's attempt: what stops the outer one stops it."""
        runner = ActionRunner(fn, self)
        arguments = runner.prepare(fn.signature.encode(args, kwargs))
        encoded = await self.engine.attempts.run_inner(outer, fn.name, runner, arguments)
        return fn.signature.decode_result(encoded)  # type: ignore[return-value]  # as annotated

    async def schedule(self, body: Callable[[Desk], T], caller: Execution) -> T:
        """Run a scheduling body in a transaction of its own."""
        return await result_of(self.schedule_soon(body, caller))

    def schedule_soon(self, body: Callable[[Desk], T], caller: Execution) -> Future[T]:
        """Hand a scheduling body in."""

        def whole(transaction: Transaction) -> T:
            execution = replace(caller, now=self.engine.clock.now())
            return body(MutationDesk(transaction, execution, self.registry, self))

        return self.engine.transact_soon(whole)


def permit(fn: Registered[..., Any], identity: Identity | None) -> None:
    """Refuse an internal function to a viewer.

    Raises:
        PermissionDeniedError: contract 1.2.
    """
    if fn.is_internal and identity is not None and not identity.admin:
        raise PermissionDeniedError(identity.subject, f"call {fn.name}, which is internal")


def _done(look: Callable[[], T]) -> Future[T]:
    future: Future[T] = Future()
    try:
        future.set_result(look())
    except BaseException as error:  # noqa: BLE001  # carried by the future to whoever waits
        future.set_exception(error)
    return future
