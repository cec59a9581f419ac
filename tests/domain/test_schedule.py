"""Intervals: anchor + k · every, exactly (CONTRACT 5.8)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.schedule import Interval, Schedule
from rxferrix_lab.domain.zone import load_zone
from rxferrix_lab.errors import InstantError

ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HALF_MINUTE = Interval(30 * SECOND, ANCHOR)


def test_anchor_is_the_first_occurrence() -> None:
    assert HALF_MINUTE.next_instant(ANCHOR - SECOND) == ANCHOR
    assert HALF_MINUTE.next_instant(ANCHOR - timedelta(days=400)) == ANCHOR


def test_next_is_strictly_later() -> None:
    assert HALF_MINUTE.next_instant(ANCHOR) == ANCHOR + 30 * SECOND
    assert HALF_MINUTE.next_instant(ANCHOR + 29 * SECOND) == ANCHOR + 30 * SECOND


def test_nothing_comes_before_the_anchor() -> None:
    assert HALF_MINUTE.previous_instant(ANCHOR - timedelta.resolution) is None
    assert HALF_MINUTE.previous_instant(ANCHOR) == ANCHOR


def test_occurrences_hold_until_and_not_after() -> None:
    found = HALF_MINUTE.occurrences(ANCHOR, ANCHOR + 60 * SECOND)

    assert [o.instant for o in found] == [ANCHOR + 30 * SECOND, ANCHOR + 60 * SECOND]
    assert [o.wall.isoformat() for o in found] == ["2026-01-01T00:00:30", "2026-01-01T00:01:00"]
    assert {o.note for o in found} == {""}


def test_ten_years_of_thirds_do_not_drift() -> None:
    thirds = Interval(timedelta(microseconds=1_333_333), ANCHOR)
    steps = 200_000_000

    last = thirds.previous_instant(ANCHOR + steps * thirds.every)

    assert last == ANCHOR + steps * thirds.every


def test_anchor_in_a_zone_is_kept_as_its_instant() -> None:
    local = datetime(2026, 10, 25, 3, 30, tzinfo=load_zone("Europe/Bucharest"), fold=1)

    interval = Interval(timedelta(hours=1), local)

    assert interval.anchor.isoformat() == "2026-10-25T01:30:00+00:00"


def test_moments_of_one_zone_are_compared_as_instants() -> None:
    zone = load_zone("Europe/Bucharest")
    hourly = Interval(timedelta(hours=1), datetime(2026, 10, 25, 3, tzinfo=zone))

    second_passing = datetime(2026, 10, 25, 3, tzinfo=zone, fold=1)

    assert hourly.previous_instant(second_passing) == second_passing.astimezone(UTC)


@given(
    every=st.timedeltas(min_value=SECOND, max_value=timedelta(days=3000)),
    after_s=st.integers(-(10**8), 10**9),
    steps=st.integers(0, 60),
)
def test_all_questions_agree(every: timedelta, after_s: int, steps: int) -> None:
    interval = Interval(every, ANCHOR)
    after = ANCHOR + timedelta(seconds=after_s)
    until = after + steps * every + SECOND / 3

    listed = [o.instant for o in interval.occurrences(after, until)]

    assert interval.count(after, until) == len(listed)
    assert all((instant - ANCHOR) % every == timedelta(0) for instant in listed)
    following = interval.next_instant(after)
    assert following is not None
    if listed:
        assert following == listed[0]
        assert interval.previous_instant(until) == listed[-1]
    else:
        assert following > until


@pytest.mark.parametrize(
    "every",
    [
        timedelta(0),
        -SECOND,
        timedelta(milliseconds=999),
        timedelta(days=4000),
        timedelta.max,
        timedelta.min,
    ],
)
def test_period_that_cannot_be_meant_is_refused(every: timedelta) -> None:
    with pytest.raises(InstantError, match="one second or more"):
        Interval(every, ANCHOR)


def test_period_of_one_second_is_kept() -> None:
    assert Interval(SECOND, ANCHOR).count(ANCHOR, ANCHOR + timedelta(days=7)) == 604_800


def test_naive_moments_are_refused() -> None:
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - the point of the test

    with pytest.raises(InstantError, match="naive"):
        Interval(SECOND, naive)
    with pytest.raises(InstantError, match="naive"):
        HALF_MINUTE.next_instant(naive)
    with pytest.raises(InstantError, match="naive"):
        HALF_MINUTE.previous_instant(naive)


@pytest.mark.parametrize(
    "moment",
    [
        datetime.max.replace(tzinfo=UTC),
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-14))),
        datetime(9998, 12, 31, 23, 59, 59, tzinfo=UTC),
    ],
)
def test_nothing_is_left_at_the_end_of_the_calendar(moment: datetime) -> None:
    yearly = Interval(timedelta(days=365), ANCHOR)

    assert yearly.next_instant(moment) is None
    last = yearly.previous_instant(moment)
    assert last is not None
    assert last.year == 9998


def test_anchor_past_the_calendar_is_refused() -> None:
    with pytest.raises(InstantError, match="years 2 to 9998"):
        Interval(SECOND, datetime.max.replace(tzinfo=UTC))


@pytest.mark.parametrize(
    ("every", "words"),
    [
        (SECOND, "every second"),
        (90 * SECOND, "every 90 seconds"),
        (timedelta(minutes=5), "every 5 minutes"),
        (timedelta(hours=1), "every hour"),
        (timedelta(days=2), "every 2 days"),
        (timedelta(milliseconds=1500), "every 1.5 seconds"),
    ],
)
def test_words_name_the_period_in_its_largest_unit(every: timedelta, words: str) -> None:
    assert Interval(every, ANCHOR).words() == words


def test_cron_and_interval_answer_the_same_questions() -> None:
    schedules: list[Schedule] = [CronSchedule("0 * * * * *"), Interval(60 * SECOND, ANCHOR)]
    until = ANCHOR + timedelta(hours=1)

    answers = [
        (s.next_instant(ANCHOR), s.previous_instant(until), s.count(ANCHOR, until))
        for s in schedules
    ]

    assert answers[0] == answers[1]
    assert [o.instant for o in schedules[0].occurrences(ANCHOR, until)] == [
        o.instant for o in schedules[1].occurrences(ANCHOR, until)
    ]
