"""Values as text."""

import doctest
from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab.reactive import job_filter
from rxferrix_lab.views import access, hosting, labels
from rxferrix_lab.views.labels import ago, duration, esc, full_instant, short
from rxferrix_lab.views.palette import STATES, state_chip

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("module", [labels, access, hosting, job_filter])
def test_examples_in_docstrings_run(module: object) -> None:
    assert doctest.testmod(module).failed == 0  # type: ignore[arg-type]  # a module


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 ms"),
        (0.9994, "999 ms"),
        (59.94, "59.9 s"),
        (60, "1 min"),
        (3_660, "1 h 1 min"),
        (90_000, "1 d 1 h"),
        (-5, "−5.0 s"),
    ],
)
def test_duration_shows_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration(timedelta(seconds=seconds)) == text


def test_instant_of_an_unknown_zone_is_shown_in_utc() -> None:
    assert full_instant(NOON, "Mars/Olympus") == "2026-07-01 12:00:00 UTC"


def test_half_hours_from_utc_are_shown() -> None:
    assert full_instant(NOON, "Asia/Kolkata") == "2026-07-01 17:30:00 IST (UTC+5:30)"


def test_future_is_in_and_past_is_ago() -> None:
    assert (ago(NOON + timedelta(hours=2), NOON), ago(NOON, NOON)) == ("in 2 h", "now")


def test_short_text_is_one_line() -> None:
    assert short("a\n  b") == "a b"


def test_markup_of_users_is_escaped() -> None:
    assert esc("<img src=x onerror='a'>") == "&lt;img src=x onerror=&#x27;a&#x27;&gt;"


@pytest.mark.parametrize("state", STATES)
def test_every_state_reads_without_colour(state: str) -> None:
    chip = state_chip(state)

    assert "<svg" in chip
    assert f"<span>{state}</span>" in chip


def test_state_that_is_not_known_is_shown_and_not_believed() -> None:
    assert "<b>" not in state_chip("<b>")
