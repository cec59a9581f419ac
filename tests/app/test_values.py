"""What is taken comes back equal, whatever it is (contract 1.4)."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Any, NamedTuple
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from rxferrix_lab.app.value_types import ValueType
from rxferrix_lab.app.values import brief
from rxferrix_lab.app.work_results import TAG
from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded, WorkResult

# At run time it is subscripted with types that the checkers cannot follow.
Result: Any = WorkResult
ERROR = JobError("error", "ValueError", "no", "Traceback")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Point(NamedTuple):
    x: int
    label: str = "here"


@dataclass(frozen=True)
class Address:
    street: str
    since: datetime


def test_value_is_shown_short_and_with_its_type() -> None:
    assert len(brief("x" * 1000)) < 120
    assert brief([10**5000]) == "a value too large to show (list)"
    assert brief(Decimal(1)) == "Decimal('1') (decimal.Decimal)"


# Every branch is a type of the contract, and the values that it takes.
_Typed = tuple[Any, st.SearchStrategy[Any]]
_instants = st.datetimes(
    min_value=datetime(1, 1, 3),  # noqa: DTZ001 # hypothesis wants the bounds naive
    max_value=datetime(9999, 12, 29),  # noqa: DTZ001 # likewise
    timezones=st.timezones(),
)
_scalars: list[_Typed] = [
    (None, st.none()),
    (bool, st.booleans()),
    (int, st.integers()),
    (float, st.floats(allow_nan=False, allow_infinity=False)),
    (str, st.text()),
    (bytes, st.binary()),
    (Decimal, st.decimals(allow_nan=False, allow_infinity=False)),
    (UUID, st.uuids()),
    (date, st.dates()),
    (datetime, _instants),
    (timedelta, st.timedeltas()),
    (Colour, st.sampled_from(Colour)),
    (Level, st.sampled_from(Level)),
    (Point, st.builds(Point, st.integers(), st.text())),
    (Address, st.builds(Address, st.text(), _instants)),
]
_keys = [(kind, values) for kind, values in _scalars if kind in (int, str, UUID, date, timedelta)]


def _containers(inner: st.SearchStrategy[_Typed]) -> st.SearchStrategy[_Typed]:
    def of_list(one: _Typed) -> _Typed:
        return list.__class_getitem__(one[0]), st.lists(one[1], max_size=4)

    def of_tuple(one: _Typed, other: _Typed) -> _Typed:
        return tuple.__class_getitem__((one[0], other[0])), st.tuples(one[1], other[1])

    def of_dict(key: _Typed, one: _Typed) -> _Typed:
        return dict.__class_getitem__((key[0], one[0])), st.dictionaries(key[1], one[1], max_size=4)

    def of_set(one: _Typed) -> _Typed:
        return set.__class_getitem__(one[0]), st.sets(one[1], max_size=4)

    def of_result(one: _Typed) -> _Typed:
        ended = st.just(Failed(ERROR)) | st.just(Canceled())
        return Result[one[0]], st.builds(Succeeded, one[1]) | ended

    return st.one_of(
        st.builds(of_list, inner),
        st.builds(of_tuple, inner, inner),
        st.builds(of_dict, st.sampled_from(_keys), inner),
        st.builds(of_set, st.sampled_from(_scalars)),
        st.builds(of_result, inner),
    )


_typed = st.recursive(st.sampled_from(_scalars), _containers, max_leaves=4)


@given(_typed.flatmap(lambda typed: st.tuples(st.just(typed[0]), typed[1])))
def test_whatever_is_taken_comes_back_equal(typed: tuple[Any, Any]) -> None:
    annotation, value = typed
    kept = ValueType.of(annotation)

    encoded = kept.encode(value)

    assert kept.encode(kept.decode(encoded)) == encoded
    assert _in_utc(kept.decode(encoded)) == _in_utc(value)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


@given(_json.filter(lambda value: not (isinstance(value, dict) and TAG in value)))
def test_whatever_json_has_of_its_own_comes_back_without_an_annotation(value: object) -> None:
    bare = ValueType.unannotated()

    assert bare.decode(bare.encode(value)) == value


# Any: a value of any type, and its parts.
def _in_utc(value: Any) -> Any:  # noqa: ANN401 # see above
    """The value with its instants in UTC, where alone two of them compare safely (PEP 495)."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, Address):
        return Address(value.street, value.since.astimezone(UTC))
    for kind, rebuilt in _REBUILT.items():
        if type(value) is kind:
            return rebuilt(value)
    return value


_REBUILT: dict[type, Callable[[Any], Any]] = {
    Succeeded: lambda value: Succeeded(_in_utc(value.value)),
    list: lambda value: [_in_utc(part) for part in value],
    tuple: lambda value: tuple(_in_utc(part) for part in value),
    set: lambda value: {_in_utc(part) for part in value},
    dict: lambda value: {_in_utc(key): _in_utc(part) for key, part in value.items()},
}
