"""From a session's choices to what is asked of the store."""

from datetime import UTC, datetime

import pytest

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.job_filter import Order, Place, instant_in, order_of, place_of, search_of


def test_text_of_digits_is_an_id() -> None:
    search = search_of(Controls(text=" 42 "))

    assert (search.job, search.text) == (42, None)


def test_other_text_is_looked_for() -> None:
    search = search_of(Controls(text="lamp 42"))

    assert (search.job, search.text) == (None, "lamp 42")


def test_states_that_there_are_not_are_left_out() -> None:
    assert search_of(Controls(states="failed,burnt")).states == ("failed",)


def test_wall_times_are_of_the_zone() -> None:
    search = search_of(Controls(since="2026-07-01 12:00", zone="Europe/Bucharest"))

    assert search.since == datetime(2026, 7, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "tomorrow", "2026-13-01", "0001-01-01 00:00"])
def test_what_is_no_time_asks_nothing(text: str) -> None:
    assert instant_in(text, "Asia/Tokyo") is None


@pytest.mark.parametrize(
    ("text", "order"),
    [
        ("-ran", Order("ran", is_descending=True)),
        ("pool", Order("pool", is_descending=False)),
        ("error", Order()),
        ("", Order()),
    ],
)
def test_order_is_a_column_of_the_white_list(text: str, order: Order) -> None:
    assert order_of(Controls(order=text)) == order


@pytest.mark.parametrize(
    ("text", "place"),
    [("", Place()), ("last", Place("last")), ("17", Place("at")), ("x", Place())],
)
def test_place_is_an_end_or_a_job(text: str, place: Place) -> None:
    found = place_of(Controls(at=text))

    assert (found.where, found.job) == (place.where, 17 if text == "17" else None)
