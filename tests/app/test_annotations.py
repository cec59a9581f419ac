"""Annotations are found where a function was written."""

import inspect
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest

from rxferrix_lab.app.annotations import parameters_of
from rxferrix_lab.errors import FunctionDefinitionError

if TYPE_CHECKING:
    from collections.abc import Sized  # stands for a context, imported for the checkers only


# Any: some of the functions below have annotations that no checker can resolve.
def first_annotation(function: Any) -> object:  # noqa: ANN401 # see above
    return next(iter(parameters_of(function, 1).parameters.values())).annotation


def test_context_s_annotation_is_not_needed() -> None:
    def act(ctx: "Sized", n: "int") -> None: ...

    assert first_annotation(act) is int


def test_name_that_is_local_to_the_definition_is_found() -> None:
    @dataclass
    class Local:
        n: int

    def act(ctx: object, one: "list[Local]") -> None: ...

    assert first_annotation(act) == list[Local]


def test_name_that_cannot_be_found_is_told_with_the_way_out() -> None:
    def act(ctx: object, one: "Sized") -> None: ...

    with pytest.raises(FunctionDefinitionError, match=r"act: .*'Sized' is not defined; define or"):
        first_annotation(act)


def test_cell_of_a_notebook_defines_functions_too() -> None:
    cell = "class Mail: ...\ndef act(ctx, mail: 'Mail'): ...\n"
    names: dict[str, object] = {}
    exec(cell, names)  # how IPython runs a cell

    assert first_annotation(names["act"]) is names["Mail"]


def test_wrapped_function_is_looked_through() -> None:
    def act(ctx: object, n: int) -> None: ...

    @wraps(act)
    def outer(*args: object) -> None: ...

    assert first_annotation(outer) is int


def test_function_without_a_context_is_refused() -> None:
    def act() -> None: ...

    with pytest.raises(FunctionDefinitionError, match="act: it needs a first parameter"):
        parameters_of(act, 1)


def test_missing_annotations_stay_missing() -> None:
    cell = "def act(ctx, x): ..."
    names: dict[str, object] = {}
    exec(cell, names)

    assert first_annotation(names["act"]) is inspect.Parameter.empty
