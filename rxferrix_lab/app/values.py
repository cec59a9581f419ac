"""Whether a value came back from JSON as it went in, and how it is written there.

Looks at values only: what a type may be is `value_types`' matter. Changes no value it was given.
"""

import dataclasses
import math
import reprlib
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from functools import singledispatch

import msgspec

from rxferrix_lab.app.work_results import CarriedCancellation, CarriedFailure, CarriedSuccess
from rxferrix_lab.domain.outcome import Canceled, Failed, Succeeded

MAX_DEPTH = 100  # decoding recurses too, on top of whatever stack its caller has by then

# What encoding, decoding and a user's own __post_init__ raise for a value that does not fit.
CANNOT_BE_CARRIED = (TypeError, ValueError, OverflowError, RecursionError)

encode = msgspec.json.Encoder().encode

_shortened = reprlib.Repr()
_shortened.maxstring = _shortened.maxother = _shortened.maxlong = 100


def brief(value: object) -> str:
    """A value for a message: short, whatever its size, and with its type."""
    kind = type(value)
    module = "" if kind.__module__ in ("builtins", "__main__") else f"{kind.__module__}."
    name = kind.__qualname__.rpartition("<locals>.")[2]
    return f"{_text(value)} ({module}{name})"


@singledispatch
def on_wire(value: object) -> object:
    """The value with instants in UTC, sets in one order, and outcomes with their tag."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = (field.name for field in dataclasses.fields(value))
        return {name: on_wire(getattr(value, name)) for name in names}
    return value


@on_wire.register
def _instant_on_wire(value: datetime) -> object:
    return value.astimezone(UTC) if _is_instant(value) else value


@on_wire.register(set)
@on_wire.register(frozenset)
def _set_on_wire(value: set[object] | frozenset[object]) -> object:
    # Hashes differ from process to process; the same run must give the same bytes (8.2).
    return sorted(map(on_wire, value), key=encode)


@on_wire.register(list)
@on_wire.register(tuple)
def _sequence_on_wire(value: list[object] | tuple[object, ...]) -> object:
    return [on_wire(part) for part in value]


@on_wire.register(dict)
def _dict_on_wire(value: dict[object, object]) -> object:
    return {on_wire(key): on_wire(part) for key, part in value.items()}


@on_wire.register(Succeeded)
def _success_on_wire(value: Succeeded[object]) -> object:
    return CarriedSuccess(on_wire(value.value))


@on_wire.register
def _failure_on_wire(value: Failed) -> object:
    return CarriedFailure(value.error)


@on_wire.register
def _cancellation_on_wire(value: Canceled) -> object:
    return CarriedCancellation(value.reason)


def difference(given: object, back: object, at: str = "", depth: int = 0) -> str | None:
    """What keeps a value that came back from being the one that was given, or None.

    Equal is not enough: every part must be of the same type, except that an int may stand where a
    float is asked for, as PEP 484 has it. Of instants only the instant counts, not its zone.

    Args:
        given: the value as it went in.
        back: the value as it came out.
        at: where in the whole value this part is.
        depth: how many containers are around it.
    """
    if depth > MAX_DEPTH:
        return f"it is nested deeper than {MAX_DEPTH}"
    where = f"at {at}, " if at else ""
    if type(given) is not type(back):
        is_widened = type(given) is int and type(back) is float and given == back
        return None if is_widened else f"{where}{_changed(given, back)}"
    reason = _own_difference(given, back)
    if reason:
        return where + reason
    for name, one, other in _parts(given, back):
        reason = difference(one, other, at + name, depth + 1)
        if reason:
            return reason
    return None


_Part = tuple[str, object, object]  # where it is, as given, as it came back


@singledispatch
def _parts(given: object, back: object) -> Iterator[_Part]:
    """The parts of two values of one type, side by side."""
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        for field in dataclasses.fields(given):
            yield f".{field.name}", getattr(given, field.name), getattr(back, field.name)


@_parts.register(list)
@_parts.register(tuple)
def _sequence_parts(
    given: list[object] | tuple[object, ...], back: list[object] | tuple[object, ...]
) -> Iterator[_Part]:
    for place, (one, other) in enumerate(zip(given, back, strict=True)):
        yield f"[{place}]", one, other


@_parts.register(set)
@_parts.register(frozenset)
def _set_parts(
    given: set[object] | frozenset[object], back: set[object] | frozenset[object]
) -> Iterator[_Part]:
    own = {_key(part): part for part in back}
    for part in given:
        yield "", part, own[_key(part)]


@_parts.register(dict)
def _dict_parts(given: dict[object, object], back: dict[object, object]) -> Iterator[_Part]:
    own = {_key(key): key for key in back}
    for key, part in given.items():
        own_key = own[_key(key)]
        yield "its keys", key, own_key
        yield f"[{_text(key)}]", part, back[own_key]


@singledispatch
def _own_difference(given: object, back: object) -> str | None:
    """What differs between two values of one type, their parts left aside."""
    is_record = dataclasses.is_dataclass(given)
    return None if is_record or given == back else _changed(given, back)


@_own_difference.register
def _instant_difference(given: datetime, back: datetime) -> str | None:
    if given.utcoffset() is None:
        return f"{_text(given)} is naive; give an aware datetime, with tzinfo=UTC or another zone"
    return None if given.astimezone(UTC) == back else _changed(given, back)


@_own_difference.register
def _float_difference(given: float, back: float) -> str | None:
    return None if math.isfinite(given) and given == back else _changed(given, back)


@_own_difference.register
def _decimal_difference(given: Decimal, back: Decimal) -> str | None:
    if not given.is_finite():
        return f"{given} is not a number that equals itself"
    # 1.10 equals 1.1, but it has other digits.
    return None if given.as_tuple() == back.as_tuple() else _changed(given, back)


@_own_difference.register(list)
@_own_difference.register(tuple)
def _length_difference(
    given: list[object] | tuple[object, ...], back: list[object] | tuple[object, ...]
) -> str | None:
    return None if len(given) == len(back) else _changed(given, back)


@_own_difference.register(dict)
@_own_difference.register(set)
@_own_difference.register(frozenset)
def _key_difference(
    given: dict[object, object] | set[object] | frozenset[object],
    back: dict[object, object] | set[object] | frozenset[object],
) -> str | None:
    same = len(given) == len(back) and set(map(_key, given)) == set(map(_key, back))
    return None if same else _changed(given, back)


@singledispatch
def _key(part: object) -> object:
    """What finds a value that came back: equal for two values that carry the same."""
    if dataclasses.is_dataclass(part):
        return tuple(_key(getattr(part, field.name)) for field in dataclasses.fields(part))
    return part


@_key.register
def _instant_key(part: datetime) -> object:
    # PEP 495: an instant in a repeated hour equals no instant of another zone, so use its UTC.
    return part.astimezone(UTC) if _is_instant(part) else part


@_key.register(tuple)
def _tuple_key(part: tuple[object, ...]) -> object:
    return tuple(map(_key, part))


@_key.register(frozenset)
def _frozenset_key(part: frozenset[object]) -> object:
    return frozenset(map(_key, part))


def _is_instant(value: datetime) -> bool:
    return type(value) is datetime and value.utcoffset() is not None


def _changed(given: object, back: object) -> str:
    return f"{brief(given)} would come back as {brief(back)}"


def _text(value: object) -> str:
    try:
        return _shortened.repr(value)
    except (ValueError, RecursionError):  # an int past Python's limit of digits
        return "a value too large to show"
