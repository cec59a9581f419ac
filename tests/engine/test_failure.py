"""An exception as it is stored."""

from rxferrix_lab.engine.failure import LONGEST_TEXT, error_of


def raised(error: BaseException) -> BaseException:
    try:
        raise error
    except BaseException as caught:  # noqa: BLE001  # given back with its traceback
        return caught


def test_it_has_the_class_the_message_and_the_users_frames() -> None:
    stored = error_of(raised(ValueError("boom")))

    assert (stored.kind, stored.type, stored.message) == ("error", "ValueError", "boom")
    assert "in raised" in stored.traceback
    assert stored.traceback.endswith("ValueError: boom\n")


def test_the_members_of_a_group_are_told_too() -> None:
    stored = error_of(raised(BaseExceptionGroup("two", [raised(ValueError("a")), KeyError("b")])))

    assert "ValueError: a" in stored.traceback
    assert "KeyError: 'b'" in stored.traceback


def test_what_it_came_from_is_told_too() -> None:
    error = ValueError("late")
    error.__cause__ = raised(KeyError("early"))

    assert "KeyError: 'early'" in error_of(raised(error)).traceback


def test_errors_that_came_from_each_other_have_an_end() -> None:
    one, other = raised(ValueError("one")), raised(ValueError("other"))
    one.__context__, other.__context__ = other, one

    assert "ValueError: one" in error_of(one).traceback


def test_a_text_without_an_end_is_cut_in_the_middle() -> None:
    stored = error_of(ValueError("a" * LONGEST_TEXT + "b" * LONGEST_TEXT))

    assert len(stored.message) < LONGEST_TEXT + 100
    assert "characters left out" in stored.message
    assert stored.message.endswith("b")


def test_a_lone_surrogate_is_replaced() -> None:
    assert error_of(ValueError("\ud800")).message == "?"
