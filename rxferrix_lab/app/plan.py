"""What a call to the scheduler asks for, checked before anything is written.

The one untyped gate: whatever the type checkers refuse is refused here at run time too.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from rxferrix_lab.app.functions import Action, Mutation, Query, Registered, Schedulable
from rxferrix_lab.app.registry import Registry
from rxferrix_lab.domain.given import checked_text
from rxferrix_lab.domain.job import JobId, JobRecord, Trigger
from rxferrix_lab.domain.workpool import check_retries
from rxferrix_lab.errors import NotSchedulableError, RetriesError, UnknownPoolError


@dataclass(frozen=True, slots=True)
class Call:
    """A function and its arguments, encoded."""

    function: Schedulable[..., Any]
    args: str


@dataclass(frozen=True, slots=True)
class Plan:
    """The options of a job to be."""

    retries: int | None = None  # null: the pool's default, or none
    pool: str | None = None
    on_complete: str | None = None
    on_complete_names: str | None = None
    on_complete_context: str | None = None

    def with_retries(self, retries: int) -> "Plan":
        """The same with so many retries after the first attempt.

        Raises:
            RetriesError: unless `retries` is a whole number from 0 to 10,000.
        """
        check_retries(retries)
        return replace(self, retries=retries)

    def in_pool(self, name: str, registry: Registry) -> "Plan":
        """The same in a declared pool.

        Raises:
            UnknownPoolError: if no such pool is declared.
        """
        if checked_text(name, "a pool's name") not in registry.pools:
            raise UnknownPoolError(str(name), sorted(registry.pools))
        return replace(self, pool=name)

    def completing_with(self, function: object, context: object) -> "Plan":
        """The same with a mutation that runs once when the job ends.

        Raises:
            NotSchedulableError: unless `function` is a mutation.
            ArgumentsError: if it does not take (work_id, context, result), or the context does not
                fit.
        """
        if not isinstance(function, Mutation):
            raise NotSchedulableError(_name_of(function), "is not a mutation, as on_complete needs")
        encoded = function.signature.encode_completion(context)
        names = [parameter.name for parameter in function.signature.parameters]
        return replace(
            self,
            on_complete=function.name,
            on_complete_names=json.dumps(names),
            on_complete_context=encoded,
        )

    def record(  # what a job is made of
        self,
        job: JobId,
        call: Call,
        asked: datetime,
        now: datetime,
        registry: Registry,
        parent: JobId | None = None,
        trigger: Trigger = "user",
    ) -> JobRecord:
        """The job's row."""
        retries = self.retries
        if retries is None:
            pool = registry.pools.get(self.pool) if self.pool is not None else None
            retries = pool.retries if pool is not None else 0
        return JobRecord(
            id=job,
            function=call.function.name,
            kind="action" if isinstance(call.function, Action) else "mutation",
            args=call.args,
            state="pending",
            trigger=trigger,
            scheduled_for=asked,
            due_at=max(asked, now),
            created_at=now,
            max_attempts=retries + 1,
            pool=self.pool,
            parent=parent,
            on_complete=self.on_complete,
            on_complete_names=self.on_complete_names,
            on_complete_context=self.on_complete_context,
        )

    def call(
        self,
        registry: Registry,
        function: object,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
    ) -> Call:
        """The call, if it can be scheduled like this.

        Raises:
            NotSchedulableError: for a query or something that is not registered.
            RetriesError: for a mutation with retries.
            ArgumentsError: if the arguments do not fit.
        """
        known = schedulable(registry, function)
        if self.retries is not None and isinstance(known, Mutation):
            raise RetriesError(
                f"{known.name} is a mutation, which runs exactly once and is never retried; "
                "with_retries is for actions"
            )
        if self.pool is not None and not isinstance(known, Action):
            raise NotSchedulableError(known.name, "is a mutation, and pools hold only actions")
        return Call(known, known.signature.encode(args, kwargs))


def schedulable(registry: Registry, function: object) -> Schedulable[..., Any]:
    """The registered mutation or action.

    Raises:
        NotSchedulableError: for a query, or a function that nobody registered.
        UnknownFunctionError: for a function of another app.
    """
    if isinstance(function, Query):
        raise NotSchedulableError(function.name)
    if not isinstance(function, Schedulable):
        raise NotSchedulableError(
            _name_of(function), "is not registered with @app.mutation or @app.action"
        )
    found = registry.function(function.name)
    if not isinstance(found, Schedulable):
        raise NotSchedulableError(function.name)
    return found


def _name_of(function: object) -> str:
    if isinstance(function, Registered):
        return function.name
    return str(getattr(function, "__name__", repr(function)[:60]))
