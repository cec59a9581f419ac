"""Registered functions: queries, mutations and actions as values to pass and to schedule."""

import inspect
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

from rxferrix_lab.app.signature import Signature
from rxferrix_lab.errors import FunctionDefinitionError

P = ParamSpec("P")
R = TypeVar("R")
LONGEST_NAME = 200


class Registered(Generic[P, R]):
    """A function under its name in an app.

    Attributes:
        name: unique in the app; durable jobs refer to the function by it.
        is_internal: callable only by functions, the scheduler, an admin and the program itself.
        signature: its parameters after the context, and its result.
    """

    kind = "function"

    def __init__(self, function: Callable[..., Any], name: str, *, internal: bool) -> None:
        self.function = function
        self.name = name
        self.is_internal = internal
        self.signature = Signature.of(function, name=name)
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *args: object, **kwargs: object) -> NoReturn:
        """Refuse a plain call, which would have neither a transaction nor a context.

        Raises:
            TypeError: always; says how to run the function.
        """
        raise TypeError(
            f"{self.name} is a registered {self.kind}; run it with app.call({self.name}, …), "
            f"await app.run_{self.kind}({self.name}, …) or, inside a function, through ctx"
        )

    def __repr__(self) -> str:
        """The kind and the name."""
        return f"<{self.kind} {self.name}>"


class Query(Registered[P, R]):
    """A function that reads, inside one read-only snapshot."""

    kind = "query"


class Schedulable(Registered[P, R]):
    """A function that can be scheduled: a mutation or an action."""


class Mutation(Schedulable[P, R]):
    """A function that reads and writes inside one serialisable transaction."""

    kind = "mutation"


class Action(Schedulable[P, R]):
    """A function that may do anything, outside any transaction.

    Attributes:
        grace: how long it may go on after it was asked to stop; null: as long as the app says.
        timeout: after which it is asked to stop; null: never.
        in_thread: whether it is a plain `def`, which runs in a thread of its own.
    """

    kind = "action"

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        *,
        internal: bool,
        grace: timedelta | None = None,
        timeout: timedelta | None = None,
    ) -> None:
        super().__init__(function, name, internal=internal)
        self.grace = _duration(name, "grace", grace, timedelta(0))
        self.timeout = _duration(name, "timeout", timeout, timedelta(microseconds=1))
        self.in_thread = not inspect.iscoroutinefunction(function)


def check_plain(function: object, kind: str) -> None:
    """Refuse an `async def` where a transaction runs: a transaction cannot await.

    Raises:
        FunctionDefinitionError: for an `async def` or a generator.
    """
    name = getattr(function, "__name__", repr(function))
    check_callable(function)
    if inspect.iscoroutinefunction(function):
        raise FunctionDefinitionError(
            name,
            f"a {kind} is a plain def, because a transaction cannot await; write `def "
            f"{name}(ctx, …)`, "
            "and do what must be awaited in an action that calls it",
        )
    _refuse_generator(function, name)


def check_callable(function: object) -> None:
    """Refuse what is not a function that a user wrote.

    Raises:
        FunctionDefinitionError: for anything else, a function that is registered already included.
    """
    if isinstance(function, Registered):
        raise FunctionDefinitionError(function.name, "it is registered already; decorate it once")
    if not callable(function) or inspect.isclass(function):
        raise FunctionDefinitionError(repr(function)[:60], "only a function can be registered")


def _refuse_generator(function: object, name: str) -> None:
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise FunctionDefinitionError(name, "a generator gives no result; return a list instead")


def check_action(function: object) -> None:
    """Refuse what cannot be an action.

    Raises:
        FunctionDefinitionError: for a generator or something that is not a function.
    """
    check_callable(function)
    _refuse_generator(function, getattr(function, "__name__", repr(function)))


def check_name(name: object) -> str:
    """The name, if a function can be registered under it.

    Raises:
        FunctionDefinitionError: for an empty, long or reserved name.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME:
        raise FunctionDefinitionError(
            repr(name)[:60], f"a name is text of 1 to {LONGEST_NAME} characters"
        )
    if name.startswith("_system"):
        raise FunctionDefinitionError(name, "names that begin with _system are the scheduler's")
    return name


def _duration(name: str, option: str, value: object, least: timedelta) -> timedelta | None:
    if value is None:
        return None
    if not isinstance(value, timedelta) or value < least:
        raise FunctionDefinitionError(
            name, f"{option} is a timedelta of {least} or more: {value!r}"
        )
    return value
