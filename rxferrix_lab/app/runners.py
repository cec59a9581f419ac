"""Registered functions as the engine runs them: decode, hand a context, call, encode."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rxferrix_lab.app.action_desk import ActionDesk
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx, SyncActionCtx
from rxferrix_lab.app.functions import Action, Mutation
from rxferrix_lab.app.mutation_desk import MutationDesk
from rxferrix_lab.app.output import captured
from rxferrix_lab.app.thread_run import run_in_thread
from rxferrix_lab.errors import SwallowedDatabaseError

if TYPE_CHECKING:
    from rxferrix_lab.app.runtime import Runtime
    from rxferrix_lab.engine.attempt import Attempt
    from rxferrix_lab.engine.program import Execution
    from rxferrix_lab.storage.transaction import Transaction

Arguments = tuple[tuple[Any, ...], dict[str, Any]]  # decoded by the function's signature


class MutationRunner:
    """Runs one mutation."""

    __slots__ = ("_mutation", "_runtime")

    def __init__(self, mutation: Mutation[..., Any], runtime: Runtime) -> None:
        self._mutation = mutation
        self._runtime = runtime

    def prepare(self, args: str) -> Arguments:
        """The arguments, decoded; ArgumentsError where they do not fit."""
        return self._mutation.signature.call_arguments(args)

    def run(self, transaction: Transaction, execution: Execution, arguments: Arguments) -> str:
        """Run inside the transaction and return the result as JSON.

        Raises:
            SwallowedDatabaseError: if the function hid an error that lost its transaction.
        """
        desk = MutationDesk(transaction, execution, self._runtime.registry, self._runtime)
        args, kwargs = arguments
        try:
            result = self._mutation.function(MutationCtx(desk), *args, **kwargs)
        finally:
            desk.close()
        broken = transaction.layer.broken
        if broken is not None:
            raise SwallowedDatabaseError(self._mutation.name, broken) from broken
        return self._mutation.signature.encode_result(result)


class ActionRunner:
    """Runs one action."""

    __slots__ = ("_action", "_runtime")

    def __init__(self, action: Action[..., Any], runtime: Runtime) -> None:
        self._action = action
        self._runtime = runtime

    @property
    def grace(self) -> timedelta | None:
        """The action's own grace; None for the app's."""
        return self._action.grace

    @property
    def timeout(self) -> timedelta | None:
        """After which the action is asked to stop; None for never."""
        return self._action.timeout

    @property
    def in_thread(self) -> bool:
        """Whether the action is a plain `def`."""
        return self._action.in_thread

    def prepare(self, args: str) -> Arguments:
        """The arguments, decoded; ArgumentsError where they do not fit."""
        return self._action.signature.call_arguments(args)

    async def run(self, attempt: Attempt, arguments: Arguments) -> str:
        """Run and return the result as JSON."""
        # A cell that calls an action expects to see what it prints; a job has its own place for it.
        is_job_of_a_cell = attempt.job is not None and self._runtime.is_interactive
        with captured(attempt.output, passes_on=not is_job_of_a_cell):
            result = await self._call(attempt, *arguments)
        return self._action.signature.encode_result(result)

    async def _call(
        self, attempt: Attempt, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        desk = ActionDesk(self._runtime, attempt)
        function = self._action.function
        if not self.in_thread:
            return await function(ActionCtx(desk), *args, **kwargs)
        context = SyncActionCtx(desk)
        return await run_in_thread(
            lambda: function(context, *args, **kwargs),
            attempt,
            self._runtime.engine,
        )
