"""What an annotation promises of a value, and whether JSON can carry that.

Refuses annotations, checks and carries single values. Must not know functions: the caller says
whose parameter it was.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, is_dataclass
from datetime import date, timedelta
from math import isfinite
from re import sub
from types import NoneType
from typing import Any
from uuid import UUID

import msgspec
from msgspec import inspect as shape

from rxferrix_lab.app import work_results
from rxferrix_lab.app.annotations import TypeForm, origin_of
from rxferrix_lab.app.values import CANNOT_BE_CARRIED, brief, difference, encode, on_wire

MAX_BYTES = 16 * 1024 * 1024

CAN_BE_CARRIED = (
    "None, bool, int, float, str, bytes, Decimal, UUID, date, aware datetime, timedelta, "
    "Enum (of str or of int), list, tuple, set, dict, dataclass, TypedDict, NamedTuple, "
    "WorkResult, and unions of these that JSON can tell apart"
)

# Values of exactly these types come back as they are; others are decoded and compared.
_EXACT: tuple[tuple[shape.Type, type], ...] = (
    (shape.NoneType(), NoneType),
    (shape.BoolType(), bool),
    (shape.IntType(), int),
    (shape.StrType(), str),
    (shape.BytesType(), bytes),
    (shape.UUIDType(), UUID),
    (shape.DateType(), date),
    (shape.TimeDeltaType(), timedelta),
)
_JSON_OWN = (shape.NoneType, shape.BoolType, shape.IntType, shape.FloatType, shape.StrType)
_KEYS = (
    shape.AnyType,  # a value of Any is JSON's own, and so are its keys
    shape.StrType,
    shape.IntType,
    shape.FloatType,
    shape.BytesType,
    shape.DecimalType,
    shape.UUIDType,
    shape.DateType,
    shape.DateTimeType,
    shape.TimeDeltaType,
    shape.EnumType,
)
_NOT_IN_THE_CONTRACT = (
    shape.TimeType,
    shape.ByteArrayType,
    shape.MemoryViewType,
    shape.RawType,
    shape.ExtType,
)


@dataclass(frozen=True, slots=True)
class ValueType:
    """One annotation, ready to carry values.

    Attributes:
        shown: the annotation as a message names it.
        wire: the type that msgspec decodes.
        safe: values of exactly these types need no look at what comes back.
        rewritten: an instant, a set or an outcome may be inside, which are not written as they are.
        restored: decoded values hold stand-ins for outcomes or for the user's records.
        annotated: False where the annotation is missing, and JSON's own types are taken.
    """

    shown: str
    wire: TypeForm
    safe: frozenset[type]
    rewritten: bool
    restored: bool
    annotated: bool
    originals: Mapping[type, type]
    decoder: msgspec.json.Decoder[Any]

    @classmethod
    def of(cls, annotation: TypeForm) -> "ValueType":
        """The type that an annotation stands for.

        Raises:
            TypeError: the annotation cannot be carried; says why, and what can.
        """
        shown = shown_type(annotation)
        try:
            types = work_results.WireTypes()
            wire = types.of(annotation)
            nodes = list(_nodes(shape.type_info(wire)))
            decoder = msgspec.json.Decoder(wire)
        # What typing and msgspec raise for an annotation that they cannot read.
        except (TypeError, NameError, NotImplementedError, AttributeError) as error:
            raise TypeError(_refusal(shown, _explained(str(error)))) from error
        for node in nodes:
            problem = _problem(node)
            if problem:
                raise TypeError(_refusal(shown, problem))
        outcomes = any(map(_is_outcome, nodes))
        changing = (shape.DateTimeType, shape.SetType, shape.FrozenSetType)
        return cls(
            shown=shown,
            wire=wire,
            safe=frozenset(_safe(nodes[0])),
            rewritten=outcomes or any(isinstance(node, changing) for node in nodes),
            restored=outcomes or bool(types.originals),
            annotated=True,
            originals=types.originals,
            decoder=decoder,
        )

    @classmethod
    def unannotated(cls) -> "ValueType":
        """JSON's own types, and a `WorkResult`, which such a parameter of `on_complete` gets."""
        return cls(
            shown="JSON's own types",
            wire=Any,
            safe=frozenset({NoneType, bool, int, str}),
            rewritten=True,
            restored=True,
            annotated=False,
            originals={},
            decoder=msgspec.json.Decoder(),
        )

    def encode(self, value: object) -> bytes:
        """The value as JSON.

        Raises:
            ValueError: it would not come back equal and of this type; says what was expected.
        """
        reason = encoded = None
        try:
            if type(value) in self.safe:
                encoded = encode(value)
            else:
                encoded = encode(on_wire(value) if self.rewritten else value)
                reason = difference(value, self.decode(encoded))
        except RecursionError:
            reason = "it is nested too deep, or holds itself"
        except CANNOT_BE_CARRIED as error:
            reason = str(error)
        if encoded is None or reason:
            raise ValueError(self._expected(value, reason or ""))
        if len(encoded) > MAX_BYTES:
            raise ValueError(too_large(len(encoded)))
        return encoded

    def decode(self, encoded: bytes | str) -> object:
        """The value that was encoded, or one of `CANNOT_BE_CARRIED` where it is of another type."""
        value = self.decoder.decode(encoded)
        return self.restore(value) if self.restored else value

    def restore(self, value: object) -> object:
        """A value as decoded by `wire`, with the user's own types in it."""
        if self.annotated:
            return work_results.restored(value, self.originals)
        return work_results.recognised(value)

    def _expected(self, value: object, reason: str) -> str:
        way_out = (
            "" if self.annotated else "; annotate it with its type to carry more than JSON's own"
        )
        given = brief(value)
        if isinstance(value, float) and not isfinite(value):
            reason = "JSON has no NaN and no infinity"
        return f"expected {self.shown}, got {given}: {reason.removeprefix(given + ' ')}{way_out}"


def shown_type(annotation: TypeForm) -> str:
    """An annotation as its author wrote it, near enough."""
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return annotation.__qualname__.rpartition("<locals>.")[2]
    outcome = r"Succeeded(\[.*?\])?(?:, | \| )Failed(?:, | \| )Canceled"
    text = sub(r"(?<!['\"\w.])(?:[\w<>]+\.)+(?=\w)", "", repr(annotation))
    text = sub(rf"^Union\[{outcome}\]$", r"WorkResult\1", text)
    return sub(rf"Union\[{outcome}\]", r"WorkResult\1", text)


def too_large(size: int) -> str:
    """Why JSON of so many bytes is refused."""
    return (
        f"its JSON takes {size:,} bytes and {MAX_BYTES:,} is the most; keep large data in a table "
        "or a file, and pass its id"
    )


def _refusal(shown: str, problem: str) -> str:
    return f"{shown} cannot be carried as JSON: {problem}. What can be carried: {CAN_BE_CARRIED}"


def _explained(problem: str) -> str:
    if problem.startswith("Type unions may not contain"):
        union = problem.partition(" - type ")[2].removesuffix(" is not supported")
        return f"JSON cannot tell the members of {union} apart"
    return problem


def _nodes(root: shape.Type) -> Iterator[shape.Type]:
    """The type and all types in it, the root first; a type that holds itself comes once."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield node
        waiting.extend(_inside(node))


def _inside(node: shape.Type) -> list[shape.Type]:
    match node:
        case shape.CollectionType():
            return [node.item_type]
        case shape.TupleType():
            return list(node.item_types)
        case shape.DictType():
            return [node.key_type, node.value_type]
        case shape.UnionType():
            return list(node.types)
        case shape.Metadata():
            return [node.type]
        case (
            shape.StructType()
            | shape.TypedDictType()
            | shape.NamedTupleType()
            | shape.DataclassType()
        ):
            return [field.type for field in node.fields]
        case _:
            return []


def _problem(node: shape.Type) -> str | None:
    match node:
        case shape.CustomType(cls):
            return f"{shown_type(cls)} is not among the types that JSON carries here"
        case shape.StructType(cls) if not _is_outcome(node):
            return f"{shown_type(cls)} is a msgspec Struct; write it as a dataclass"
        case shape.DataclassType(cls) if not is_dataclass(_bare(cls)):
            return f"{shown_type(cls)} is an attrs class; write it as a dataclass"
        case shape.DictType():
            return _key_problem(node.key_type)
        case shape.UnionType() if _holds_more_than_any(node):
            return "JSON cannot tell Any and the other members of its union apart"
        case _ if isinstance(node, _NOT_IN_THE_CONTRACT):
            return f"{type(node).__name__.removesuffix('Type').lower()} is not carried"
        case _:
            return None


def _key_problem(key: shape.Type) -> str | None:
    if isinstance(key, _KEYS):
        return None
    if isinstance(key, shape.LiteralType) and len({type(value) for value in key.values}) == 1:
        return None
    if isinstance(key, shape.UnionType | shape.LiteralType):
        return "keys are all text in JSON, which cannot tell keys of several types apart"
    return "the keys of a dict must be str, int, float, bytes, Decimal, UUID, an instant or an Enum"


def _bare(cls: TypeForm) -> TypeForm:
    return origin_of(cls) or cls  # msgspec names a generic class with its arguments


def _is_outcome(node: shape.Type) -> bool:
    return isinstance(node, shape.StructType) and _bare(node.cls) in work_results.CARRIED


def _holds_more_than_any(union: shape.UnionType) -> bool:
    others = [node for node in union.types if not isinstance(node, shape.AnyType)]
    return len(others) < len(union.types) and not all(isinstance(one, _JSON_OWN) for one in others)


def _safe(node: shape.Type) -> Iterator[type]:
    options = node.types if isinstance(node, shape.UnionType) else (node,)
    for unconstrained, kind in _EXACT:
        if unconstrained in options:
            yield kind
