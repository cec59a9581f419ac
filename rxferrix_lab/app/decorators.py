"""The option forms of the decorators, typed so that both checkers refuse an `async def` too."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, ClassVar, Concatenate, ParamSpec, Protocol, TypeVar, overload
from uuid import UUID

from rxferrix_lab.app.contexts import ActionCtx, MutationCtx, QueryCtx, SyncActionCtx
from rxferrix_lab.app.functions import Action, Mutation, Query

P = ParamSpec("P")
R = TypeVar("R")


class CarriedRecord(Protocol):
    """A dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


# What a result may be (contract 1.4). A coroutine is none of these, so `async def` is refused.
Carried = TypeVar(
    "Carried",
    bound=bool
    | int
    | float
    | str
    | bytes
    | Decimal
    | UUID
    | date
    | timedelta
    | Enum
    | list[Any]
    | tuple[Any, ...]
    | set[Any]
    | dict[Any, Any]
    | Mapping[str, object]
    | CarriedRecord
    | None,
)


class QueryDecorator(Protocol):
    """`@app.query(internal=…, name=…)`."""

    def __call__(self, fn: Callable[Concatenate[QueryCtx, P], Carried], /) -> Query[P, Carried]:
        """Register a plain `def`."""
        ...


class MutationDecorator(Protocol):
    """`@app.mutation(internal=…, name=…)`."""

    def __call__(
        self, fn: Callable[Concatenate[MutationCtx, P], Carried], /
    ) -> Mutation[P, Carried]:
        """Register a plain `def`."""
        ...


class ActionDecorator(Protocol):
    """`@app.action(internal=…, name=…, grace=…, timeout=…)`."""

    @overload
    def __call__(
        self, fn: Callable[Concatenate[ActionCtx, P], Awaitable[R]], /
    ) -> Action[P, R]: ...
    @overload
    def __call__(self, fn: Callable[Concatenate[SyncActionCtx, P], R], /) -> Action[P, R]: ...


@dataclass(frozen=True, slots=True)
class Naming:
    """Under which name a function is registered, and for whom."""

    name: str | None
    internal: bool

    def of(self, fn: Callable[..., Any]) -> str:
        """The name: the given one, else the function's own."""
        return self.name if self.name is not None else str(getattr(fn, "__name__", repr(fn)))
