"""A function's parameters and result, as typed values carried in JSON.

Binds, checks, writes and reads the arguments of calls and jobs, and results. Never calls the
function, and never touches the store.
"""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from rxferrix_lab.app.annotations import TypeForm, parameters_of
from rxferrix_lab.app.value_types import MAX_BYTES, ValueType, too_large
from rxferrix_lab.app.values import CANNOT_BE_CARRIED, encode
from rxferrix_lab.app.work_results import encode_outcome
from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded
from rxferrix_lab.errors import ArgumentsError, FunctionDefinitionError, ResultError

Kind = inspect.Parameter
_POSITIONAL = (Kind.POSITIONAL_ONLY, Kind.POSITIONAL_OR_KEYWORD)

# Where msgspec says that a decoded object does not fit: "… - at `$.user[0]`", "… field `user`".
_NAMED_BY_MSGSPEC = re.compile(r"(?:`\$\.|field `)([^`.\[]+)")

_completion_samples: tuple[Failed | Canceled, ...] = (
    Failed(JobError("error", "Exception", "", "")),
    Canceled(),
)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter after the context."""

    name: str
    kind: Any  # inspect's enum of parameter kinds, which is private there
    is_required: bool
    type: ValueType


@dataclass(frozen=True, slots=True)
class Signature:
    """What a function takes after its context, and what it gives.

    Attributes:
        name: the function's name, for messages.
        parameters: in the order of the struct, which puts the required ones first.
        result: the type of what it returns.
    """

    name: str
    parameters: tuple[Parameter, ...]
    result: ValueType
    _declared: inspect.Signature
    _required: int
    _names: tuple[str, ...]
    _takes_only_positional: bool  # each parameter can be given by position, so a tuple is enough
    _safe: tuple[frozenset[type], ...]
    _restoring: bool
    _struct: Callable[..., msgspec.Struct]
    _decoder: msgspec.json.Decoder[Any]

    @classmethod
    def of(
        cls, function: Callable[..., object], skip: int = 1, *, name: str | None = None
    ) -> "Signature":
        """The signature of a function, which leaves its first `skip` parameters to the caller.

        Raises:
            FunctionDefinitionError: a parameter or the result is of a type that cannot be carried.
        """
        declared = parameters_of(function, skip)
        name = name or str(getattr(function, "__name__", repr(function)))
        parameters = [_parameter(name, one) for one in declared.parameters.values()]
        parameters.sort(key=lambda one: not one.is_required)
        annotation = declared.return_annotation
        struct = _struct_of(name, parameters)
        return cls(
            name=name,
            parameters=tuple(parameters),
            result=_value_type(name, "the result", annotation),
            _declared=declared,
            _required=sum(one.is_required for one in parameters),
            _names=tuple(one.name for one in parameters),
            _takes_only_positional=all(one.kind in _POSITIONAL for one in parameters),
            _safe=tuple(_safe(one) for one in parameters),
            _restoring=any(one.type.restored for one in parameters),
            _struct=struct,
            _decoder=msgspec.json.Decoder(struct),
        )

    def encode(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
        """The arguments of a call as a JSON object; a default that was not overridden is not in it.

        Raises:
            ArgumentsError: they do not fit the parameters, or would not come back as they are.
        """
        count = len(self.parameters)
        if kwargs or not self._required <= len(args) <= count or not self._takes_only_positional:
            values = self._bound(args, kwargs)
        else:
            values = args + (UNSET,) * (count - len(args))
        for value, safe in zip(values, self._safe, strict=True):
            if type(value) not in safe:
                return self._encode_checked(values)
        try:
            encoded = encode(self._struct(*values))
        except CANNOT_BE_CARRIED:  # lone surrogates, or an int past Python's limit of digits
            return self._encode_checked(values)
        return self._bounded(encoded)

    def decode(self, text: str) -> dict[str, Any]:
        """The arguments by parameter name; a default that applies is not among them.

        Raises:
            ArgumentsError: a stored call no longer fits the function.
        """
        given = zip(self.parameters, self._read(text), strict=True)
        return {one.name: value for one, value in given if value is not UNSET}

    def call_arguments(self, text: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as the function is called with them, after its context.

        Raises:
            ArgumentsError: a stored call no longer fits the function.
        """
        values = self._read(text)
        if self._takes_only_positional and self._required == len(values):
            return values, {}
        return self._spread(values)

    def encode_result(self, value: object) -> str:
        """What the function returned, as JSON.

        Raises:
            ResultError: it would not come back as it is.
        """
        try:
            return self.result.encode(value).decode()
        except ValueError as error:
            raise ResultError(self.name, str(error)) from None

    def decode_result(self, text: str) -> object:
        """What `encode_result` wrote.

        Raises:
            ResultError: the stored result is of another type; the function has changed since.
        """
        try:
            return self.result.decode(text)
        except CANNOT_BE_CARRIED as error:
            raise ResultError(self.name, f"the stored result no longer fits: {error}") from None

    def encode_completion(self, context: object) -> str:
        """The JSON of the context that an `on_complete` mutation will get.

        Raises:
            ArgumentsError: the context is not of the parameter's type, or the function does not
                take (ctx, work_id, context, result).
        """
        takes_three = len(self.parameters) == 3 and self._takes_only_positional
        if not takes_three:
            raise self._not_a_completion(f"takes {self._call()}")
        encoded = self._encode_value(self.parameters[1], context).decode()
        for outcome in _completion_samples:
            try:
                self._read(self.encode_completion_call(0, encoded, outcome))
            except ArgumentsError as error:
                raise self._not_a_completion(str(error)) from None
        return encoded

    def encode_completion_call(
        self, work_id: int, context_json: str, outcome: Succeeded[str] | Failed | Canceled
    ) -> str:
        """The arguments of an `on_complete` mutation, made of parts that are JSON already.

        Args:
            work_id: the job that ended.
            context_json: what `encode_completion` gave.
            outcome: how it ended; the value of a `Succeeded` is the JSON text of the result.
        """
        work, context, result = self._names
        carried = encode_outcome(outcome)
        return f'{{"{work}":{work_id},"{context}":{context_json},"{result}":{carried}}}'

    def _not_a_completion(self, problem: str) -> ArgumentsError:
        return ArgumentsError(
            self.name,
            "on_complete needs a mutation of the shape (ctx, work_id: JobId, context, "
            f"result: WorkResult[...]): {problem}",
        )

    def _bound(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        try:
            bound = self._declared.bind(*args, **kwargs).arguments
        except TypeError as error:
            names = (*self._names, *kwargs)
            about = next((name for name in names if f"'{name}'" in str(error)), None)
            problem = f"{error}; it is called as {self._call()}"
            raise ArgumentsError(self.name, problem, about) from None
        return tuple(bound.get(one.name, UNSET) for one in self.parameters)

    def _call(self) -> str:
        bare = self._declared.replace(return_annotation=Kind.empty)
        return f"{self.name}{_without_modules(str(bare))}"

    def _encode_checked(self, values: tuple[Any, ...]) -> str:
        carried = [
            value if value is UNSET else msgspec.Raw(self._encode_value(one, value))
            for one, value in zip(self.parameters, values, strict=True)
        ]
        return self._bounded(encode(self._struct(*carried)))

    def _encode_value(self, parameter: Parameter, value: object) -> bytes:
        try:
            return parameter.type.encode(value)
        except ValueError as error:
            raise ArgumentsError(self.name, str(error), parameter.name) from None

    def _bounded(self, encoded: bytes) -> str:
        if len(encoded) > MAX_BYTES:
            raise ArgumentsError(self.name, too_large(len(encoded)))
        return encoded.decode()

    def _read(self, text: str) -> tuple[Any, ...]:
        try:
            values = msgspec.structs.astuple(self._decoder.decode(text))
            return self._restored(values) if self._restoring else values
        except CANNOT_BE_CARRIED as error:
            about = _NAMED_BY_MSGSPEC.search(str(error))
            raise ArgumentsError(
                self.name,
                f"the stored arguments no longer fit: {error}; it is called as {self._call()}",
                about and about[1],
            ) from None

    def _restored(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(
            one.type.restore(value) if one.type.restored and value is not UNSET else value
            for one, value in zip(self.parameters, values, strict=True)
        )

    def _spread(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        by_position = True
        for one, value in zip(self.parameters, values, strict=True):
            if value is UNSET:
                by_position = by_position and one.kind not in _POSITIONAL
            elif one.kind is Kind.VAR_POSITIONAL:
                args.extend(value)
            elif one.kind is Kind.VAR_KEYWORD:
                kwargs.update(value)
            elif by_position and one.kind in _POSITIONAL:
                args.append(value)
            else:
                kwargs[one.name] = value
        return tuple(args), kwargs


def _parameter(function: str, declared: inspect.Parameter) -> Parameter:
    annotation: TypeForm = declared.annotation
    is_bare = annotation is Kind.empty
    if declared.kind is Kind.VAR_POSITIONAL:
        annotation = tuple.__class_getitem__((Any if is_bare else annotation, ...))
    elif declared.kind is Kind.VAR_KEYWORD:
        annotation = dict.__class_getitem__((str, Any if is_bare else annotation))
    is_open = declared.kind in (Kind.VAR_POSITIONAL, Kind.VAR_KEYWORD)
    return Parameter(
        name=declared.name,
        kind=declared.kind,
        is_required=declared.default is Kind.empty and not is_open,
        type=_value_type(function, f'the parameter "{declared.name}"', annotation),
    )


def _value_type(function: str, place: str, annotation: TypeForm) -> ValueType:
    if annotation in (Kind.empty, Any, object):
        return ValueType.unannotated()
    try:
        return ValueType.of(annotation)
    except TypeError as error:
        raise FunctionDefinitionError(function, f"{place}: {error}") from None


def _struct_of(function: str, parameters: list[Parameter]) -> type[msgspec.Struct]:
    # Fields are numbered, because a parameter may bear a name that a struct's attribute cannot.
    fields: list[Any] = [
        (f"p{n}", one.type.wire) if one.is_required else (f"p{n}", one.type.wire | UnsetType, UNSET)
        for n, one in enumerate(parameters)
    ]
    names = {f"p{n}": one.name for n, one in enumerate(parameters)}
    return msgspec.defstruct(function, fields, rename=names, forbid_unknown_fields=True)


def _safe(parameter: Parameter) -> frozenset[type]:
    return parameter.type.safe if parameter.is_required else parameter.type.safe | {UnsetType}


def _without_modules(text: str) -> str:
    return re.sub(r"(?:[\w<>]+\.)+(?=[A-Za-z_])", "", text)
