"""The annotations of a function, resolved.

Reads what a function says of itself; never judges whether a type can be carried.
"""

import inspect
import typing
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import CodeType, FrameType, NoneType
from typing import Any, TypeAlias

from rxferrix_lab.errors import FunctionDefinitionError

# A type expression has no static type that both checkers know.
TypeForm: TypeAlias = Any


def origin_of(annotation: TypeForm) -> TypeForm:
    """What was subscripted, `list` for `list[int]`; None for what was not."""
    return typing.get_origin(annotation)


def parameters_of(function: Callable[..., object], skip: int) -> inspect.Signature:
    """The parameters after the first `skip`, and the result, with their annotations resolved.

    Raises:
        FunctionDefinitionError: an annotation names what cannot be found, or the context is
            missing.
    """
    plain = inspect.unwrap(function)
    name = getattr(plain, "__name__", repr(plain))
    try:
        declared = inspect.signature(plain)
    except (TypeError, ValueError, NameError) as error:
        raise FunctionDefinitionError(name, f"its parameters cannot be read: {error}") from error
    parameters = list(declared.parameters.values())
    if len([one for one in parameters if one.kind in _POSITIONAL]) < skip:
        raise FunctionDefinitionError(name, "it needs a first parameter for the context, ctx")
    kept = parameters[skip:]
    hints = _resolved(name, plain, {one.name: one.annotation for one in kept}, declared)
    return inspect.Signature(
        [one.replace(annotation=hints.get(one.name, one.empty)) for one in kept],
        return_annotation=_awaited(hints.get("return", inspect.Signature.empty)),
    )


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _resolved(
    name: str,
    plain: Callable[..., object],
    written: dict[str, TypeForm],
    declared: inspect.Signature,
) -> Mapping[str, TypeForm]:
    # The context's annotation is left out: it is often imported for the type checkers only.
    wanted = {**written, "return": declared.return_annotation}
    wanted = {key: value for key, value in wanted.items() if value is not inspect.Signature.empty}

    def holder() -> None: ...

    holder.__annotations__ = wanted
    scope = getattr(plain, "__globals__", {})
    try:
        return typing.get_type_hints(holder, scope, _defining_scope(plain), include_extras=True)
    except (NameError, AttributeError) as error:
        raise FunctionDefinitionError(
            name,
            f"an annotation cannot be resolved: {error}; define or import it where the "
            "module can see it, outside `if TYPE_CHECKING` and outside the function",
        ) from error
    except (TypeError, SyntaxError) as error:
        raise FunctionDefinitionError(name, f"an annotation is not a type: {error}") from error


def _defining_scope(plain: Callable[..., object]) -> Mapping[str, TypeForm]:
    """The local names where the function is being defined, if that is in another function."""
    code = getattr(plain, "__code__", None)
    frame = inspect.currentframe()
    while frame is not None and not _defines(frame, code):
        frame = frame.f_back
    return dict(frame.f_locals) if frame is not None else {}


def _defines(frame: FrameType, code: CodeType | None) -> bool:
    return any(constant is code for constant in frame.f_code.co_consts if constant is not None)


def _awaited(result: TypeForm) -> TypeForm:
    """What a plain function that returns an awaitable gives in the end."""
    origin = origin_of(result)
    if origin in (Awaitable, Coroutine):
        return typing.get_args(result)[-1]
    if result in (typing.Never, typing.NoReturn):
        return NoneType
    return result
