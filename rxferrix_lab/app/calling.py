"""Calls from outside, as one identity: resolve the function, check who asks, hand in, wait."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar, cast

from rxferrix_lab.app.functions import Action, Mutation, Query, Registered
from rxferrix_lab.app.operations import SYSTEM, Operations
from rxferrix_lab.app.reading import Reading
from rxferrix_lab.app.runtime import permit
from rxferrix_lab.engine.attempts import is_cancelled_from_outside
from rxferrix_lab.engine.loop import result_of
from rxferrix_lab.engine.waiting import waiting_on_clock
from rxferrix_lab.errors import BlockingCallError, UnknownFunctionError

if TYPE_CHECKING:
    from rxferrix_lab.app.runtime import Runtime
    from rxferrix_lab.app.scheduling import Desk
    from rxferrix_lab.engine.program import Execution, Identity

T = TypeVar("T")
F = TypeVar("F", bound=Registered[..., Any])
Args = tuple[Any, ...]  # checked by the function's signature
Kwargs = Mapping[str, Any]


class Calling:
    """The ways to call a running app."""

    def __init__(self, runtime: Runtime, identity: Identity | None) -> None:
        self._runtime = runtime
        self._identity = identity

    async def run_query(self, fn: object, args: Args, kwargs: Kwargs) -> Any:  # noqa: ANN401  # as annotated
        """Run a query."""
        query = self._query(fn)
        return await self._runtime.run_query(query, args, kwargs, self._execution(query))

    async def run_mutation(self, fn: object, args: Args, kwargs: Kwargs) -> Any:  # noqa: ANN401  # as annotated
        """Run a mutation, or a verb of the scheduler by its `_system/scheduler:…` name."""
        if isinstance(fn, str) and fn.startswith(SYSTEM):
            return Operations(self._runtime, self._identity).run_by_name(fn, args, kwargs)
        mutation = self._mutation(fn)
        self._runtime.refuse_inside_mutation("run_mutation")
        return await self._runtime.run_mutation(mutation, args, kwargs, self._execution(mutation))

    async def run_action(self, fn: object, args: Args, kwargs: Kwargs) -> Any:  # noqa: ANN401  # as annotated
        """Run an action on the engine's loop, whichever loop asks."""
        action = self._action(fn)
        loop = self._runtime.engine.loop
        if loop is not None and loop.is_current():
            with waiting_on_clock(self._runtime.engine.clock):
                return await self._runtime.run_action(action, args, kwargs, self._execution(action))
        return await result_of(self._action_soon(action, args, kwargs))

    def call(self, fn: object, args: Args, kwargs: Kwargs) -> Any:  # noqa: ANN401  # as annotated
        """Run any function and wait for it, from plain code.

        Raises:
            BlockingCallError: where waiting would stop the engine itself.
        """
        runtime = self._runtime
        loop = runtime.engine.loop
        if (loop is not None and loop.is_current()) or runtime.engine.is_in_mutation():
            raise BlockingCallError("app.call")
        if isinstance(fn, str) and fn.startswith(SYSTEM):
            return Operations(runtime, self._identity).run_by_name(fn, args, kwargs)
        found = runtime.registry.function(fn) if isinstance(fn, str) else fn
        kind = getattr(found, "kind", None)
        if kind == Query.kind:
            query = self._query(fn)
            return runtime.query_soon(query, args, kwargs, self._execution(query)).result()
        if kind == Mutation.kind:
            mutation = self._mutation(fn)
            encoded = runtime.mutation_soon(mutation, args, kwargs, self._execution(mutation))
            return mutation.signature.decode_result(encoded.result())
        action = self._action(fn)
        return self._action_soon(action, args, kwargs).result()

    def subscribe(self, fn: object, args: Args, kwargs: Kwargs) -> AsyncIterator[Any]:
        """Follow a query."""
        query = self._query(fn)
        query.signature.encode(args, kwargs)
        return Reading(self._runtime).subscribe(query, args, kwargs, self._execution(query))

    def bound_query(self, fn: object, args: Args, kwargs: Kwargs) -> Callable[[set[str]], Any]:
        """The query with its arguments; called with a set, it adds the tables that it read."""
        query = self._query(fn)
        query.signature.encode(args, kwargs)
        execution = self._execution(query)
        return lambda tables: self._runtime.query_noting(query, args, kwargs, execution, tables)

    def counter(self) -> OutsideCounter:
        """Where scheduling from outside is handed in."""
        return OutsideCounter(self._runtime, self._runtime.execution("schedule", self._identity))

    def _execution(self, fn: Registered[..., Any]) -> Execution:
        return self._runtime.execution(fn.name, self._identity)

    def _query(self, fn: object) -> Query[..., Any]:
        return self._resolve(fn, Query[..., Any])

    def _mutation(self, fn: object) -> Mutation[..., Any]:
        return self._resolve(fn, Mutation[..., Any])

    def _action(self, fn: object) -> Action[..., Any]:
        return self._resolve(fn, Action[..., Any])

    def _resolve(self, fn: object, wanted: type[F]) -> F:
        """The registered function, if it is of that kind and may be called.

        Raises:
            UnknownFunctionError, PermissionDeniedError: otherwise.
        """
        name = fn if isinstance(fn, str) else getattr(fn, "name", None)
        if not isinstance(name, str):
            shown = getattr(fn, "__name__", repr(fn)[:60])
            raise UnknownFunctionError(str(shown), "is not registered; decorate it with @app.…")
        found = self._runtime.registry.function(name)
        if found.kind != wanted.kind:
            raise UnknownFunctionError(
                name, f"is {_with_article(found.kind)}, not {_with_article(wanted.kind)}"
            )
        permit(found, self._identity)
        return cast("F", found)

    def _action_soon(self, action: Action[..., T], args: Args, kwargs: Kwargs) -> Future[T]:
        """Run the action in a task of the engine's; the future has its result."""
        action.signature.encode(args, kwargs)
        future: Future[T] = Future()
        execution = self._execution(action)

        async def work() -> None:
            try:
                value = await self._runtime.run_action(action, args, kwargs, execution)
            except BaseException as error:
                future.set_exception(error)
                # An action may raise a cancellation of its own; only the engine's ends this task.
                if is_cancelled_from_outside(error):
                    raise
            else:
                future.set_result(value)

        self._runtime.engine.start_task(work, action.name)
        return future


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind == Action.kind else f"a {kind}"


class OutsideCounter:
    """Scheduling from outside any function: each request commits by itself."""

    def __init__(self, runtime: Runtime, execution: Execution) -> None:
        self._runtime = runtime
        self._execution = execution
        self.registry = runtime.registry

    def check(self, *, cancels: bool = False) -> None:
        """Refuse what would wait for itself."""
        del cancels
        self._runtime.refuse_inside_mutation("app.scheduler")

    async def handed_in(self, body: Callable[[Desk], T], *, cancels: bool = False) -> T:
        """Run a scheduling body in a transaction of its own."""
        self.check(cancels=cancels)
        return await self._runtime.schedule(body, self._execution)

    def hand_in(self, body: Callable[[Desk], T], *, cancels: bool = False) -> T:
        """The same, blocking."""
        self.check(cancels=cancels)
        return self._runtime.schedule_soon(body, self._execution).result()
