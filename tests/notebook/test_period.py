"""Durations as they are typed on a line."""

from datetime import timedelta

import pytest

from rxferrix_lab import InstantError
from rxferrix_lab.notebook.period import period


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        *(("30s", 30), ("10 sec", 10), ("5m", 300), ("5min", 300), ("1h30m", 5400)),
        *(("1.5h", 5400), ("2d", 172_800), ("250ms", 0.25)),
    ],
)
def test_duration_is_read(text: str, seconds: float) -> None:
    assert period(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("text", ["", "5", "often", "5 parsecs", "0s", "-5s"])
def test_what_is_no_duration_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InstantError, match="write 30s"):
        period(text)
