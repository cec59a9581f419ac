"""Arguments and results of functions, checked when a call or a job is made (contract 1.4)."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NewType

import pytest

from rxferrix_lab.app.signature import Signature
from rxferrix_lab.app.value_types import MAX_BYTES
from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded, WorkResult
from rxferrix_lab.errors import ArgumentsError, FunctionDefinitionError, ResultError

JobId = NewType("JobId", int)
ERROR = JobError("error", "ValueError", "no", "")


@dataclass(frozen=True)
class Mail:
    to: str
    at: datetime


def nothing(ctx: object) -> None: ...


def greet(ctx: object, user: str, times: int = 1, *, loud: bool = False) -> str:
    return f"{user}{times}{loud}"


def add(ctx: object, first: int, second: int) -> int:
    return first + second


def spread(ctx: object, first: int, /, *rest: int, key: str, **more: float) -> None: ...


def written(source: str) -> Any:  # noqa: ANN401 # without annotations, which the checkers want
    """The function of a notebook cell."""
    names: dict[str, object] = {}
    exec(source, names)
    return names.popitem()[1]


anything = written("def anything(ctx, value, other=None): return value")


def send(ctx: object, mail: Mail, tags: set[str]) -> list[Mail]:
    return [mail]


def sent(ctx: object, work_id: JobId, user: str, result: WorkResult[str]) -> None: ...


def call(function: Callable[..., object], *args: object, **kwargs: object) -> str:
    return Signature.of(function).encode(args, kwargs)


class TestArguments:
    def test_they_are_one_object_in_declared_order(self) -> None:
        assert call(add, 1, second=2) == '{"first":1,"second":2}'

    def test_a_function_without_parameters_has_an_empty_object(self) -> None:
        assert call(nothing) == "{}"
        assert Signature.of(nothing).call_arguments("{}") == ((), {})

    def test_a_default_is_not_written_so_that_a_changed_one_applies(self) -> None:
        assert call(greet, "ann") == '{"user":"ann"}'
        assert Signature.of(greet).call_arguments('{"user":"ann"}') == (("ann",), {})

    def test_a_default_that_was_given_is_written(self) -> None:
        assert call(greet, "ann", 1) == '{"user":"ann","times":1}'

    def test_a_later_default_is_given_by_keyword(self) -> None:
        text = call(greet, "ann", loud=True)

        assert Signature.of(greet).call_arguments(text) == (("ann",), {"loud": True})

    def test_the_function_gets_what_it_was_called_with(self) -> None:
        signature = Signature.of(spread)

        text = signature.encode((1, 2, 3), {"key": "k", "half": 0.5})

        assert signature.call_arguments(text) == ((1, 2, 3), {"key": "k", "half": 0.5})

    def test_they_are_read_by_name(self) -> None:
        signature = Signature.of(spread)

        text = signature.encode((1, 2), {"key": "k", "half": 0.5})

        assert signature.decode(text) == {
            "first": 1,
            "rest": (2,),
            "key": "k",
            "more": {"half": 0.5},
        }

    def test_typed_values_come_back_as_they_were(self) -> None:
        signature = Signature.of(send)
        mail = Mail("ann", datetime(2026, 1, 1, tzinfo=UTC))

        text = signature.encode((mail, {"a"}), {})

        assert signature.call_arguments(text) == ((mail, {"a"}), {})

    def test_parameters_may_bear_any_name(self) -> None:
        def odd(ctx: object, self: int, _class: int, p0: int, größe: int) -> None: ...

        signature = Signature.of(odd)

        text = signature.encode((1, 2), {"p0": 3, "größe": 4})

        assert signature.call_arguments(text) == ((1, 2, 3, 4), {})

    @pytest.mark.parametrize(
        ("args", "kwargs", "parameter", "problem"),
        [
            ((), {}, "user", "missing a required argument"),
            (("ann", 1, True), {}, None, "too many positional arguments"),
            (("ann",), {"user": "bob"}, "user", "multiple values for argument"),
            (("ann",), {"lod": True}, "lod", "unexpected keyword argument"),
            (("ann", "x"), {}, "times", "expected int, got 'x' (str)"),
            (("ann",), {"loud": 1}, "loud", "expected bool, got 1 (int)"),
            (("\ud800",), {"loud": True}, "user", "surrogates not allowed"),
        ],
    )
    def test_what_does_not_fit_is_refused_by_name(
        self, args: tuple[object, ...], kwargs: dict[str, object], parameter: str, problem: str
    ) -> None:
        with pytest.raises(ArgumentsError) as refused:
            call(greet, *args, **kwargs)

        assert (refused.value.function, refused.value.parameter) == ("greet", parameter)
        assert problem in str(refused.value)

    def test_wrong_arguments_are_told_how_the_function_is_called(self) -> None:
        with pytest.raises(ArgumentsError, match=r"it is called as add\(first: int, second: int\)"):
            call(add, 1)

    def test_plain_text_that_cannot_be_written_is_refused(self) -> None:
        def shout(ctx: object, text: str) -> None: ...

        with pytest.raises(ArgumentsError, match=r"shout\(text\): expected str.*surrogates"):
            call(shout, "\ud800")

    def test_more_than_the_bound_is_refused_though_each_is_below_it(self) -> None:
        def join(ctx: object, one: str, other: str) -> None: ...

        half = "x" * (MAX_BYTES // 2)

        with pytest.raises(ArgumentsError, match="keep large data in a table or a file"):
            call(join, half, half)

    def test_a_bare_parameter_takes_json_s_own_types(self) -> None:
        signature = Signature.of(anything)

        text = signature.encode(([1, 2.5, None, {"a": True}],), {})

        assert signature.call_arguments(text) == (([1, 2.5, None, {"a": True}],), {})

    def test_a_bare_parameter_refuses_what_would_change(self) -> None:
        with pytest.raises(ArgumentsError, match=r"anything\(value\): .*annotate it with its type"):
            call(anything, (1, 2))


class TestStoredArguments:
    @pytest.mark.parametrize(
        ("text", "parameter", "problem"),
        [
            ('{"first":1}', "second", "missing required field"),
            ('{"first":1,"second":2,"third":3}', "third", "unknown field"),
            ('{"first":"x","second":2}', "first", "Expected `int`, got `str`"),
            ("[1,2]", None, "Expected `object`, got `array`"),
            ("{", None, "truncated"),
        ],
    )
    def test_that_no_longer_fit_the_function_are_refused(
        self, text: str, parameter: str | None, problem: str
    ) -> None:
        with pytest.raises(ArgumentsError, match="the stored arguments no longer fit") as refused:
            Signature.of(add).call_arguments(text)

        assert refused.value.parameter == parameter
        assert problem in str(refused.value)


class TestResult:
    def test_comes_back_as_it_was(self) -> None:
        signature = Signature.of(send)
        mails = [Mail("ann", datetime(2026, 1, 1, tzinfo=UTC))]

        assert signature.decode_result(signature.encode_result(mails)) == mails

    def test_none_is_null(self) -> None:
        assert Signature.of(nothing).encode_result(None) == "null"

    def test_of_another_type_is_refused(self) -> None:
        with pytest.raises(ResultError, match=r"add returned .*: expected int, got 'x' \(str\)"):
            Signature.of(add).encode_result("x")

    def test_without_an_annotation_takes_json_s_own_types(self) -> None:
        signature = Signature.of(anything)

        assert signature.encode_result({"a": [1]}) == '{"a":[1]}'
        with pytest.raises(ResultError, match="would come back as"):
            signature.encode_result({"a": (1,)})

    def test_that_no_longer_fits_is_refused(self) -> None:
        with pytest.raises(ResultError, match="the stored result no longer fits"):
            Signature.of(add).decode_result('"x"')

    def test_of_an_awaitable_is_what_it_gives(self) -> None:
        def later(ctx: object) -> Awaitable[int]:
            raise NotImplementedError

        assert Signature.of(later).encode_result(1) == "1"

    def test_that_cannot_be_carried_is_refused_when_the_function_is_decorated(self) -> None:
        def roots(ctx: object) -> complex:
            return 1j

        with pytest.raises(FunctionDefinitionError, match="roots: the result: complex cannot be"):
            Signature.of(roots)


class TestDefinition:
    def test_a_union_that_json_cannot_tell_apart_is_refused_by_name(self) -> None:
        def store(ctx: object, content: list[bytes | str]) -> None: ...

        with pytest.raises(
            FunctionDefinitionError,
            match=r'store: the parameter "content": list\[bytes \| str\] cannot be '
            r"carried as JSON: JSON cannot tell the members of `bytes \| str` apart\. "
            r"What can be carried: None, bool, int",
        ):
            Signature.of(store)

    def test_a_refused_type_of_further_arguments_is_named(self) -> None:
        def store(ctx: object, *parts: complex, **more: complex) -> None: ...

        with pytest.raises(FunctionDefinitionError, match='the parameter "parts"'):
            Signature.of(store)

    def test_messages_use_the_registered_name(self) -> None:
        with pytest.raises(ArgumentsError, match=r"sum_up\(first\): expected int"):
            Signature.of(add, name="sum_up").encode(("x", 2), {})


class TestCompletion:
    @pytest.mark.parametrize(
        ("outcome", "seen"),
        [
            (Succeeded('"ok"'), Succeeded("ok")),
            (Failed(ERROR), Failed(ERROR)),
            (Canceled("by hand"), Canceled("by hand")),
        ],
    )
    def test_gets_the_job_the_context_and_the_outcome(
        self, outcome: Succeeded[str] | Failed | Canceled, seen: object
    ) -> None:
        signature = Signature.of(sent)

        text = signature.encode_completion_call(7, signature.encode_completion("ann"), outcome)

        assert signature.call_arguments(text) == ((7, "ann", seen), {})

    def test_without_annotations_gets_the_outcome_too(self) -> None:
        signature = Signature.of(written("def done(ctx, work_id, context, result): ..."))

        text = signature.encode_completion_call(
            7, signature.encode_completion({"a": 1}), Succeeded("[1]")
        )

        assert signature.call_arguments(text) == ((7, {"a": 1}, Succeeded([1])), {})

    def test_context_of_another_type_is_refused_when_the_job_is_made(self) -> None:
        with pytest.raises(ArgumentsError, match=r"sent\(user\): expected str, got 5 \(int\)"):
            Signature.of(sent).encode_completion(5)

    def test_result_that_no_longer_fits_is_refused_when_it_is_read(self) -> None:
        signature = Signature.of(sent)
        text = signature.encode_completion_call(7, '"ann"', Succeeded("5"))

        with pytest.raises(ArgumentsError, match=r"sent\(result\): .*Expected `str`, got `int`"):
            signature.call_arguments(text)

    def test_mutation_of_another_shape_is_told_the_shape(self) -> None:
        shape = r"the shape \(ctx, work_id: JobId, context, result: WorkResult\[...\]\)"

        with pytest.raises(ArgumentsError, match=shape):
            Signature.of(add).encode_completion(1)

    def test_mutation_whose_last_parameter_is_no_work_result_is_told_the_shape(self) -> None:
        def wrong(ctx: object, work_id: JobId, user: str, result: str) -> None: ...

        with pytest.raises(ArgumentsError, match=r"the shape .*`\$\.result`"):
            Signature.of(wrong).encode_completion("ann")
