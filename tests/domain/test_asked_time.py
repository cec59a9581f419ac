"""Delays and times as callers give them (contract 2.3)."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from rxferrix_lab.domain.asked_time import instant_after, instant_at
from rxferrix_lab.errors import InstantError

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)


class TestDelay:
    def test_zero_is_now(self) -> None:
        assert instant_after(timedelta(0), NOW) == NOW

    def test_ten_years_are_allowed(self) -> None:
        assert instant_after(timedelta(days=3653), NOW) == NOW + timedelta(days=3653)

    @pytest.mark.parametrize("delay", [timedelta(microseconds=-1), timedelta(days=-5)])
    def test_a_negative_one_is_refused(self, delay: timedelta) -> None:
        with pytest.raises(InstantError, match="zero or more"):
            instant_after(delay, NOW)

    def test_more_than_ten_years_are_refused(self) -> None:
        with pytest.raises(InstantError, match="ten years"):
            instant_after(timedelta(days=3654), NOW)

    @pytest.mark.parametrize("delay", [60, 1.5, None, "1h", float("nan")])
    def test_anything_but_a_timedelta_is_refused(self, delay: object) -> None:
        with pytest.raises(InstantError, match="timedelta"):
            instant_after(delay, NOW)


class TestTime:
    def test_an_aware_datetime_is_taken_in_utc(self) -> None:
        given = datetime(2026, 1, 1, 15, tzinfo=timezone(timedelta(hours=2)))

        assert instant_at(given, NOW).isoformat() == "2026-01-01T13:00:00+00:00"

    def test_an_int_is_unix_milliseconds(self) -> None:
        assert instant_at(1_767_268_800_123, NOW).isoformat() == "2026-01-01T12:00:00.123000+00:00"

    def test_a_past_time_is_kept_as_it_was_asked(self) -> None:
        past = NOW - timedelta(days=400)

        assert instant_at(past, NOW) == past

    def test_a_naive_datetime_is_refused(self) -> None:
        with pytest.raises(InstantError, match="no time zone"):
            instant_at(datetime(2026, 1, 1), NOW)  # noqa: DTZ001  # what is refused

    @pytest.mark.parametrize("when", [float("nan"), float("inf"), float("-inf"), 1.7e12])
    def test_a_float_is_refused_finite_or_not(self, when: float) -> None:
        with pytest.raises(InstantError, match="whole number"):
            instant_at(when, NOW)

    @pytest.mark.parametrize("when", [True, None, "2026-01-01", timedelta(1)])
    def test_anything_else_is_refused(self, when: object) -> None:
        with pytest.raises(InstantError, match="aware datetime"):
            instant_at(when, NOW)

    def test_seconds_given_as_milliseconds_are_recognised(self) -> None:
        with pytest.raises(InstantError, match="were seconds given as milliseconds"):
            instant_at(int(NOW.timestamp()), NOW)

    def test_microseconds_given_as_milliseconds_are_recognised(self) -> None:
        with pytest.raises(InstantError, match="were microseconds given as milliseconds"):
            instant_at(int(NOW.timestamp() * 1_000_000), NOW)

    @pytest.mark.parametrize("when", [10**18, -(10**18), 10**400])
    def test_a_time_outside_the_calendar_is_refused(self, when: int) -> None:
        with pytest.raises(InstantError):
            instant_at(when, NOW)

    @pytest.mark.parametrize(
        "when",
        [
            datetime(1999, 12, 31, 23, 59, 59, tzinfo=UTC),
            datetime.min.replace(tzinfo=timezone(timedelta(hours=14))),
        ],
    )
    def test_a_time_before_the_year_2000_is_refused(self, when: datetime) -> None:
        with pytest.raises(InstantError):
            instant_at(when, NOW)

    def test_a_time_more_than_ten_years_away_is_refused(self) -> None:
        with pytest.raises(InstantError, match="ten years"):
            instant_at(NOW + timedelta(days=3654), NOW)

    def test_the_year_2000_itself_is_allowed(self) -> None:
        first = datetime(2000, 1, 1, tzinfo=UTC)

        assert instant_at(first, NOW) == first
