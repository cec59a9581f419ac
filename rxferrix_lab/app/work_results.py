"""The wire form of a `WorkResult`, the one union of dataclasses that is carried: by a tag.

Puts tagged structs where an annotation or a value has outcomes, and takes them out again.
Must not know functions or parameters, and never checks a value.
"""

import dataclasses
from collections.abc import Callable, Mapping
from functools import singledispatch
from types import UnionType
from typing import (
    Annotated,
    Any,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
    Union,
    get_args,
    get_type_hints,
    is_typeddict,
)

import msgspec

from rxferrix_lab.app.annotations import TypeForm, origin_of
from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded

T = TypeVar("T")

# No Python name begins with a dollar sign, so no field of a record can be taken for the tag.
TAG = "$outcome"


class CarriedSuccess(msgspec.Struct, Generic[T], frozen=True, tag_field=TAG, tag="succeeded"):
    """A `Succeeded` on the wire."""

    value: T


class CarriedFailure(msgspec.Struct, frozen=True, tag_field=TAG, tag="failed"):
    """A `Failed` on the wire."""

    error: JobError


class CarriedCancellation(msgspec.Struct, frozen=True, tag_field=TAG, tag="canceled"):
    """A `Canceled` on the wire."""

    reason: str = ""


CarriedOutcome = CarriedSuccess[Any] | CarriedFailure | CarriedCancellation
CARRIED = (CarriedSuccess, CarriedFailure, CarriedCancellation)

_carried_errors: msgspec.json.Decoder[JobError] = msgspec.json.Decoder(JobError)


def encode_error(error: JobError) -> str:
    """The JSON text of a stored error."""
    try:
        return msgspec.json.encode(error).decode()
    except UnicodeEncodeError:
        # An exception's text may hold lone surrogates (a file name), and is stored all the same.
        readable = {
            name: text.encode(errors="backslashreplace").decode()
            for name, text in dataclasses.asdict(error).items()
        }
        return msgspec.json.encode(readable).decode()


def decode_error(text: str) -> JobError:
    """The error that `encode_error` wrote."""
    return _carried_errors.decode(text)


def encode_outcome(outcome: Succeeded[str] | Failed | Canceled) -> str:
    """The tagged JSON of an outcome whose value is JSON text already."""
    match outcome:
        case Succeeded(value):
            return f'{{"{TAG}":"succeeded","value":{value}}}'
        case Failed(error):
            return f'{{"{TAG}":"failed","error":{encode_error(error)}}}'
        case Canceled(reason):
            return msgspec.json.encode(CarriedCancellation(reason)).decode()


class WireTypes:
    """The types that msgspec is given in place of a user's annotations.

    Attributes:
        originals: the user's record class for each class made here to stand in for one.
    """

    def __init__(self) -> None:
        self.originals: dict[type, type] = {}
        self._open: set[type] = set()

    def of(self, annotation: TypeForm) -> TypeForm:
        """The annotation with tagged structs for outcomes; itself, where it holds none."""
        if annotation is object:
            return Any
        if isinstance(annotation, NewType):
            return self.of(annotation.__supertype__)
        if isinstance(annotation, type) and origin_of(annotation) is None:
            return self._of_class(annotation)
        named: TypeForm = getattr(annotation, "__value__", None)  # of a `type X = ...` statement
        if named is not None:
            return self.of(named)
        return self._of_alias(annotation)

    def _of_alias(self, annotation: TypeForm) -> TypeForm:
        origin, arguments = origin_of(annotation), get_args(annotation)
        if origin is None or origin is Literal:
            return annotation
        if origin is Annotated:
            inner = self.of(arguments[0])
            same = inner is arguments[0]
            return annotation if same else Annotated[(inner, *annotation.__metadata__)]
        inner_types = tuple(self.of(argument) for argument in arguments)
        if origin is Succeeded:
            return _subscripted(CarriedSuccess, inner_types)
        if all(map(_is, inner_types, arguments)):
            return annotation
        if origin in (Union, UnionType):
            return _subscripted(Union, inner_types)
        return _subscripted(origin, inner_types)

    def _of_class(self, cls: type) -> TypeForm:
        if cls is Succeeded:
            return CarriedSuccess[Any]
        if cls is Failed:
            return CarriedFailure
        if cls is Canceled:
            return CarriedCancellation
        make = _stand_in_maker(cls)
        if make is None or cls in self._open:
            return cls
        self._open.add(cls)
        fields = get_type_hints(cls, include_extras=True)
        carried = {name: self.of(field) for name, field in fields.items()}
        self._open.discard(cls)
        if all(map(_is, carried.values(), fields.values())):
            return cls
        stand_in = make(cls, carried)
        self.originals[stand_in] = cls
        return stand_in


def recognised(value: object) -> object:
    """The outcome in a value that was decoded without a type, or else the value itself."""
    if not isinstance(value, dict) or TAG not in value:
        return value  # pyright: ignore[reportUnknownVariableType] # a dict of anything is an object
    try:
        carried: TypeForm = msgspec.convert(value, CarriedOutcome)
    except msgspec.ValidationError:
        return value  # pyright: ignore[reportUnknownVariableType] # a user's own dict with such a key
    return restored(carried, {})


@singledispatch
def restored(value: object, originals: Mapping[type, type]) -> object:
    """The value with outcomes and the user's own records, as decoded by a wire type."""
    if not dataclasses.is_dataclass(value) or isinstance(value, type):
        return value
    parts = {
        field.name: restored(getattr(value, field.name), originals)
        for field in dataclasses.fields(value)
        if field.init
    }
    make: Callable[..., object] = originals.get(type(value), type(value))
    return make(**parts)


@restored.register(CarriedSuccess)
def _restored_success(value: CarriedSuccess[object], originals: Mapping[type, type]) -> object:
    return Succeeded(restored(value.value, originals))


@restored.register
def _restored_failure(value: CarriedFailure, originals: Mapping[type, type]) -> object:
    del originals  # an error holds no type of the user's
    return Failed(value.error)


@restored.register
def _restored_cancellation(value: CarriedCancellation, originals: Mapping[type, type]) -> object:
    del originals
    return Canceled(value.reason)


@restored.register(dict)
def _restored_dict(value: dict[object, object], originals: Mapping[type, type]) -> object:
    return {key: restored(part, originals) for key, part in value.items()}


@restored.register(list)
@restored.register(set)
@restored.register(frozenset)
def _restored_collection(
    value: list[object] | set[object] | frozenset[object], originals: Mapping[type, type]
) -> object:
    return type(value)(restored(part, originals) for part in value)


@restored.register(tuple)
def _restored_tuple(value: tuple[object, ...], originals: Mapping[type, type]) -> object:
    parts = (restored(part, originals) for part in value)
    if type(value) is tuple:
        return tuple(parts)
    make: Callable[..., object] = originals.get(type(value), type(value))
    return make(*parts)


def _subscripted(generic: TypeForm, arguments: tuple[TypeForm, ...]) -> TypeForm:
    return generic[arguments[0] if len(arguments) == 1 else arguments]


def _is(one: object, other: object) -> bool:
    return one is other


def _stand_in_maker(cls: TypeForm) -> Callable[[type, dict[str, TypeForm]], TypeForm] | None:
    if dataclasses.is_dataclass(cls):
        return _dataclass_like
    if is_typeddict(cls):
        return _typed_dict_like
    if hasattr(cls, "_field_defaults"):  # a NamedTuple
        return _named_tuple_like
    return None


def _dataclass_like(cls: type, carried: dict[str, TypeForm]) -> TypeForm:
    fields = [
        (
            field.name,
            carried[field.name],
            dataclasses.field(
                default=field.default,
                default_factory=field.default_factory,
                kw_only=field.kw_only,
            ),
        )
        for field in dataclasses.fields(cls)
        if field.init
    ]
    return dataclasses.make_dataclass(cls.__name__, fields)


# To the checkers the functional forms below take literals only.
def _typed_dict_like(cls: TypeForm, carried: dict[str, TypeForm]) -> TypeForm:
    def marked(name: str, field: TypeForm) -> TypeForm:
        if origin_of(field) in (Required, NotRequired):
            return field
        return Required[field] if name in cls.__required_keys__ else NotRequired[field]

    make: TypeForm = TypedDict
    return make(cls.__name__, {name: marked(name, field) for name, field in carried.items()})


def _named_tuple_like(cls: TypeForm, carried: dict[str, TypeForm]) -> TypeForm:
    make: TypeForm = NamedTuple
    stand_in = make(cls.__name__, list(carried.items()))
    stand_in.__new__.__defaults__ = tuple(cls._field_defaults.values())
    return stand_in
