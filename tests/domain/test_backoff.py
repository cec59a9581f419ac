"""250 ms, doubled for each further retry, times a factor from 0.5 to 1.5, at most an hour."""

from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rxferrix_lab.domain.backoff import Backoff

MS = timedelta(milliseconds=1)
calm = Backoff(jitter=(1, 1))


def test_the_first_retry_waits_250_ms() -> None:
    assert calm.delay_before(2, Random(0)) == 250 * MS


def test_each_further_retry_waits_twice_as_long() -> None:
    waits = [calm.delay_before(attempt, Random(0)) for attempt in range(2, 8)]

    assert waits == [250 * MS, 500 * MS, 1000 * MS, 2000 * MS, 4000 * MS, 8000 * MS]


@given(st.integers(1, 14), st.integers())
def test_the_factor_lies_between_a_half_and_one_and_a_half(retry: int, seed: int) -> None:
    undisturbed = 250 * MS * 2 ** (retry - 1)

    wait = Backoff().delay_before(retry + 1, Random(seed))

    assert min(undisturbed * 0.5, timedelta(hours=1)) <= wait + MS
    assert wait <= undisturbed * 1.5 + MS


@given(st.integers(2, 10_001), st.integers())
def test_no_wait_is_longer_than_an_hour(attempt: int, seed: int) -> None:
    assert Backoff().delay_before(attempt, Random(seed)) <= timedelta(hours=1)


def test_the_hour_is_reached() -> None:
    assert calm.delay_before(10_001, Random(0)) == timedelta(hours=1)


@given(st.integers(2, 40), st.integers())
def test_the_same_seed_gives_the_same_wait(attempt: int, seed: int) -> None:
    first = Backoff().delay_before(attempt, Random(seed))

    assert Backoff().delay_before(attempt, Random(seed)) == first


def test_the_first_attempt_never_waits() -> None:
    with pytest.raises(ValueError, match="never waits"):
        calm.delay_before(1, Random(0))


def test_no_initial_wait_is_no_wait_ever() -> None:
    assert Backoff(initial=timedelta(0)).delay_before(9_999, Random(0)) == timedelta(0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Backoff(initial=timedelta(seconds=-1)),
        lambda: Backoff(ceiling=timedelta(seconds=-1)),
        lambda: Backoff(factor=float("nan")),
        lambda: Backoff(factor=-1),
        lambda: Backoff(jitter=(0.5, float("inf"))),
        lambda: Backoff(jitter=(1.5, 0.5)),
    ],
)
def test_what_cannot_be_waited_is_refused(make: type[Backoff]) -> None:
    with pytest.raises(ValueError, match=r"backoff|jitter"):
        make()
