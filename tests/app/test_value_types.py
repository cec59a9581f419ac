"""Typed values carried as JSON (contract 1.4), one value at a time."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from typing import Any, Generic, Literal, NamedTuple, NewType, NotRequired, TypedDict, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from rxferrix_lab.app.value_types import MAX_BYTES, ValueType
from rxferrix_lab.app.values import brief
from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded, WorkResult

T = TypeVar("T")
# At run time it is subscripted with types that the checkers cannot follow.
Result: Any = WorkResult
UserId = NewType("UserId", int)
BUCHAREST = ZoneInfo("Europe/Bucharest")


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


class Mood(StrEnum):
    CALM = "calm"


class Ratio(Enum):
    HALF = 0.5


class Point(NamedTuple):
    x: int
    label: str = "here"


class Options(TypedDict):
    depth: int
    note: NotRequired[str]


class Partial(TypedDict, total=False):
    when: datetime
    tags: set[str]


@dataclass(frozen=True)
class Address:
    street: str
    since: datetime


@dataclass
class Person:
    name: str
    home: Address | None = None
    friends: list["Person"] = field(default_factory=list["Person"])


@dataclass(frozen=True)
class OtherPerson(Address):
    pass


@dataclass(frozen=True)
class Box(Generic[T]):
    content: T


@dataclass
class Receipt:
    result: WorkResult[date]
    extra: object = None


class Plain:
    pass


def carried(annotation: object, value: object) -> object:
    kept = ValueType.of(annotation)
    return kept.decode(kept.encode(value))


def refusal(annotation: object, value: object) -> str:
    with pytest.raises(ValueError, match="expected") as refused:
        ValueType.of(annotation).encode(value)
    return str(refused.value)


def definition_refusal(annotation: object) -> str:
    with pytest.raises(TypeError, match="What can be carried: None, bool, int") as refused:
        ValueType.of(annotation)
    return str(refused.value)


NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
ERROR = JobError("error", "ValueError", "no", "Traceback")

COME_BACK: list[tuple[object, object]] = [
    (None, None),
    (bool, True),
    (int, 0),
    (int, -(2**63) - 1),
    (int, 10**300),
    (float, 1.5),
    (float, -0.0),
    (float, 5e-324),
    (str, "žluťoučký \x00 \U0001f680"),
    (bytes, b"\x00\xff"),
    (Decimal, Decimal("1.10")),
    (Decimal, Decimal("-0E+400")),
    (UUID, UUID(int=7)),
    (date, date.min),
    (datetime, NOON),
    (datetime, datetime.max.replace(tzinfo=UTC)),
    (timedelta, timedelta.max),
    (timedelta, timedelta(microseconds=-1)),
    (Colour, Colour.RED),
    (Level, Level.HIGH),
    (Mood, Mood.CALM),
    (list[int], [1, 2]),
    (list, [1, "a", None, [2.5], {"k": True}]),
    (tuple[int, str], (1, "a")),
    (tuple[int, ...], ()),
    (set[str], {"a", "b"}),
    (frozenset[date], frozenset({date(2026, 1, 1)})),
    (dict[str, int], {"b": 1, "a": 2}),
    (dict[int, str], {2**70: "x"}),
    (dict[date, int], {date(2026, 1, 1): 1}),
    (dict[UUID, int], {UUID(int=1): 1}),
    (dict[datetime, int], {NOON: 1}),
    (dict[Level, int], {Level.LOW: 1}),
    (dict[Literal["a", "b"], int], {"a": 1}),
    (Person, Person("ann", Address("Elm", NOON), [Person("bob")])),
    (Box[int], Box(1)),
    (Options, {"depth": 1}),
    (Partial, {}),
    (Partial, {"when": NOON, "tags": {"x"}}),
    (Point, Point(1)),
    (Sequence[int], [1]),
    (Mapping[str, int], {"a": 1}),
    (UserId, UserId(5)),
    (Literal["a", 1], 1),
    (int | None, None),
    (int | float, 1),
    (int | float, 1.0),
    (bool | int | str | list[int] | dict[str, int] | None, [1]),
    (Decimal | float, Decimal(1)),
    (Person | list[Person] | str | None, Person("ann")),
    (Any, {"a": [None, True, 1, 1.5, "x"]}),
    (object, [1]),
    (list[object], [1, "a"]),
    (Result[int], Succeeded(1)),
    (Result[int], Failed(ERROR)),
    (Result[int], Canceled("by hand")),
    (Result[list[datetime]] | None, Succeeded([NOON])),
    (dict[str, Result[set[int]]], {"a": Succeeded({1}), "b": Canceled()}),
    (Result[Result[int]], Succeeded(Succeeded(1))),
    (Receipt, Receipt(Succeeded(date(2026, 1, 1)), {"k": 1})),
    (Box[Result[int]], Box(Succeeded(1))),
]


@pytest.mark.parametrize(("annotation", "value"), COME_BACK, ids=brief)
def test_value_comes_back_equal_and_of_its_type(annotation: object, value: object) -> None:
    back = carried(annotation, value)

    assert back == value
    assert type(back) is type(value)


def test_each_digit_of_a_decimal_comes_back() -> None:
    assert str(carried(list[Decimal], [Decimal("1.10")])) == "[Decimal('1.10')]"


def test_int_given_for_a_float_comes_back_as_a_float() -> None:
    assert str(carried(list[float], [1])) == "[1.0]"


def test_instant_comes_back_in_utc() -> None:
    back = carried(datetime, datetime(2026, 1, 1, 14, tzinfo=timezone(timedelta(hours=2))))

    assert str(back) == "2026-01-01 12:00:00+00:00"


def test_instant_with_seconds_in_its_offset_is_exact() -> None:
    assert str(carried(datetime, datetime(1800, 1, 1, tzinfo=BUCHAREST))) == (
        "1799-12-31 22:15:36+00:00"
    )


@pytest.mark.parametrize(("fold", "utc"), [(0, "00:30"), (1, "01:30")])
def test_each_passing_of_a_repeated_hour_is_its_own_instant(fold: int, utc: str) -> None:
    wall = datetime(2026, 10, 25, 3, 30, fold=fold, tzinfo=BUCHAREST)

    assert str(carried(set[datetime], {wall})) == str(
        {datetime.fromisoformat(f"2026-10-25T{utc}Z")}
    )
    assert list(ValueType.of(dict[datetime, int]).encode({wall: 1}).decode())[13:18] == list(utc)


def test_instant_of_a_repeated_hour_comes_back_inside_a_set_of_records() -> None:
    wall = datetime(2026, 10, 25, 3, 30, fold=1, tzinfo=BUCHAREST)

    assert carried(set[Address], {Address("Elm", wall)}) == {
        Address("Elm", wall.astimezone(UTC)),
    }


def test_set_is_written_in_one_order() -> None:
    assert ValueType.of(set[str]).encode({"c", "a", "b"}) == b'["a","b","c"]'


def test_dict_keeps_its_order() -> None:
    back = carried(dict[str, int], {"b": 1, "a": 2})

    assert isinstance(back, dict)
    assert list(back) == ["b", "a"]  # pyright: ignore[reportUnknownArgumentType] # a dict of anything


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (int, True, "expected int, got True (bool)"),
        (int, 1.0, "expected int, got 1.0 (float)"),
        (int, "1", "expected int, got '1' (str)"),
        (int, Level.LOW, "got <Level.LOW: 1>"),
        (int, 10**5000, "expected int, got a value too large to show (int)"),
        (float, True, "expected float, got True (bool)"),
        (float, 2**60 + 1, "expected float, got 1152921504606846977 (int): would come back as"),
        (float, math.nan, "expected float, got nan (float): JSON has no NaN"),
        (float | None, math.inf, "expected float | None, got inf (float): JSON has no NaN"),
        (str, None, "expected str, got None (NoneType)"),
        (str, Mood.CALM, "expected str, got <Mood.CALM: 'calm'>"),
        (str, "\ud800", "surrogates not allowed"),
        (bytes, bytearray(b"a"), "got bytearray(b'a') (bytearray): would come back as b'a'"),
        (Decimal, Decimal("NaN"), "NaN is not a number that equals itself"),
        (Decimal, 1, "expected Decimal, got 1 (int)"),
        (date, NOON, "expected date, got datetime.datetime(2026"),
        (datetime, NOON.replace(tzinfo=None), "is naive; give an aware datetime"),
        (list[datetime], [NOON.replace(tzinfo=None)], "at [0], datetime.datetime(2026"),
        (datetime, pd.Timestamp(NOON), "expected datetime, got Timestamp("),
        (Colour, "red", "expected Colour, got 'red' (str): would come back as <Colour.RED"),
        (Literal[1], True, "expected Literal[1], got True (bool)"),
        (list[int], (1,), "expected list[int], got (1,) (tuple): would come back as [1] (list)"),
        (list[int], [1, "a"], "Expected `int`, got `str` - at `$[1]`"),
        (tuple[int, str], [1, "a"], "expected tuple[int, str], got [1, 'a'] (list)"),
        (set[int], frozenset({1}), "expected set[int], got frozenset({1})"),
        (Point, (1, "a"), "expected Point, got (1, 'a') (tuple)"),
        (Options, {"note": "x"}, "Object missing required field `depth`"),
        (Options, {"depth": 1, "more": 2}, "would come back as {'depth': 1} (dict)"),
        (Address, OtherPerson("Elm", NOON), "would come back as Address("),
        (Person, {"name": "ann"}, "expected Person, got {'name': 'ann'} (dict)"),
        (Box[int], Box("x"), "expected Box[int], got Box(content='x')"),
        (Result[int], 1, "expected WorkResult[int], got 1 (int)"),
        (Result[int], Succeeded("x"), "Expected `int`, got `str` - at `$.value`"),
        (list[int], np.array([1]), "expected list[int], got array([1]) (numpy.ndarray)"),
        (int, np.int64(1), "expected int, got np.int64(1) (numpy.int64)"),
        (float, np.float64(1), "expected float, got np.float64(1.0) (numpy.float64)"),
        (Any, {1: 2}, "got {1: 2} (dict): would come back as {'1': 2}"),
        (Any, [(1,)], "at [0], (1,) (tuple) would come back as [1] (list)"),
        (Any, NOON, "would come back as '2026-01-01T12:00:00Z' (str)"),
        (Receipt, Receipt(Canceled(), (1,)), "at .extra, (1,) (tuple) would come back as [1]"),
        (dict[str, Any], {"a": {"b": Plain()}}, "Encoding objects of type Plain is unsupported"),
    ],
    ids=brief,
)
def test_value_that_would_change_is_refused(
    annotation: object, value: object, message: str
) -> None:
    assert message in refusal(annotation, value)


def test_value_that_holds_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)

    assert "nested too deep, or holds itself" in refusal(list, loop)


def test_value_nested_deeper_than_the_bound_is_refused() -> None:
    deep: list[object] = []
    for _ in range(101):
        deep = [deep]

    assert "nested deeper than 100" in refusal(list, deep)


def test_value_larger_than_the_bound_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match="keep large data in a table or a file, and pass its id"):
        ValueType.of(str).encode("x" * MAX_BYTES)


def test_missing_annotation_takes_json_s_own_types_and_says_how_to_take_more() -> None:
    bare = ValueType.unannotated()

    assert bare.decode(bare.encode({"a": [1, 1.5, None]})) == {"a": [1, 1.5, None]}
    with pytest.raises(ValueError, match="annotate it with its type to carry more"):
        bare.encode((1, 2))


def test_dict_that_would_come_back_as_an_outcome_is_refused() -> None:
    bare = ValueType.unannotated()

    assert bare.decode(bare.encode({"$outcome": 1})) == {"$outcome": 1}
    with pytest.raises(ValueError, match="would come back as Canceled"):
        bare.encode({"$outcome": "canceled"})


def test_missing_annotation_takes_a_work_result_too() -> None:
    bare = ValueType.unannotated()

    assert bare.decode(bare.encode(Succeeded(1))) == Succeeded(1)


@pytest.mark.parametrize(
    "annotation",
    [
        bytes | str,
        date | str,
        UUID | str,
        Decimal | str,
        datetime | date,
        Colour | str,
        Colour | Mood,
        int | Level,
        list[int] | set[int],
        tuple[int, ...] | list[int],
        Point | list[int],
        Address | Person,
        Options | Partial,
        dict[str, int] | Person,
        list[bytes | str],
        dict[str, list[int] | set[int]],
        Result[bytes | str],
        Result[int] | Person,
        Any | bytes,
    ],
    ids=brief,
)
def test_union_that_json_cannot_tell_apart_is_refused(annotation: object) -> None:
    assert "apart" in definition_refusal(annotation)


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (dict[int | str, int], "cannot tell keys of several types apart"),
        (dict[Literal[1, "1"], int], "cannot tell keys of several types apart"),
        (dict[tuple[int, int], int], "the keys of a dict must be str"),
        (complex, "complex is not among the types"),
        (Plain, "Plain is not among the types"),
        (list[Plain], "list[Plain] cannot be carried as JSON: Plain is not"),
        (Callable[[int], int], "Callable is not among the types"),
        (pd.DataFrame, "DataFrame is not among the types"),
        (np.int64, "int64 is not among the types"),
        (time, "time is not carried"),
        (bytearray, "bytearray is not carried"),
        (Ratio, "Enums must contain either all str or all int values"),
    ],
    ids=brief,
)
def test_type_that_cannot_be_carried_is_refused(annotation: object, message: str) -> None:
    assert message in definition_refusal(annotation)
