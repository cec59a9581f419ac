"""Crons as a caller asks them (CONTRACT 5.1 to 5.4).

Expectations are ISO strings: aware datetimes of one
zone compare by their wall time and hide the offset.
"""

import pickle
from datetime import UTC, datetime, timedelta, timezone
from random import Random

import pytest
from croniter import croniter  # type: ignore[import-untyped]  # it ships no types

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.zone import load_zone
from rxferrix_lab.errors import CronSyntaxError, InstantError, UnknownZoneError


def first(expr: str, zone: str, after: str) -> str:
    return CronSchedule(expr, zone).next(datetime.fromisoformat(after)).isoformat()


def told(expr: str, zone: str, after: str, until: str) -> list[tuple[str, str, str]]:
    schedule = CronSchedule(expr, zone)
    found = schedule.occurrences(datetime.fromisoformat(after), datetime.fromisoformat(until))
    return [(f"{o.instant:%dT%H:%MZ}", f"{o.wall:%d %H:%M}", o.note) for o in found]


class TestBucharest:
    """2026: 29 March 03:00 -> 04:00 (+02:00 to +03:00); 25 October 04:00 -> 03:00."""

    def test_wall_time_in_the_gap_runs_later_by_the_gap(self) -> None:
        found = first("0 30 3 * * *", "Europe/Bucharest", "2026-03-28T12:00+02:00")

        assert found == "2026-03-29T04:30:00+03:00"

    def test_asked_inside_the_shadow_the_moved_run_is_still_ahead(self) -> None:
        found = first("0 50 3 * * *", "Europe/Bucharest", "2026-03-29T01:20Z")

        assert found == "2026-03-29T04:50:00+03:00"

    def test_asked_at_the_moved_run_the_next_is_a_day_later(self) -> None:
        found = first("0 50 3 * * *", "Europe/Bucharest", "2026-03-29T01:50Z")

        assert found == "2026-03-30T03:50:00+03:00"

    def test_repeated_wall_time_runs_at_its_first_passing(self) -> None:
        found = first("0 30 3 * * *", "Europe/Bucharest", "2026-10-24T12:00Z")

        assert found == "2026-10-25T03:30:00+03:00"

    def test_asked_between_the_two_passings_the_next_is_a_day_later(self) -> None:
        found = first("0 30 3 * * *", "Europe/Bucharest", "2026-10-25T00:45Z")

        assert found == "2026-10-26T03:30:00+02:00"

    def test_asked_by_a_wall_time_of_the_second_passing(self) -> None:
        zone = load_zone("Europe/Bucharest")
        second = datetime(2026, 10, 25, 3, 10, tzinfo=zone, fold=1)

        found = CronSchedule("0 */20 * * * *", "Europe/Bucharest").next(second)

        assert found.isoformat() == "2026-10-25T04:00:00+02:00"

    def test_occurrences_say_what_the_gap_did(self) -> None:
        found = told(
            "0 0,45 3,4 * * *", "Europe/Bucharest", "2026-03-29T00:59Z", "2026-03-30T00:00Z"
        )

        assert found == [
            ("29T01:00Z", "29 04:00", "merged"),
            ("29T01:45Z", "29 04:45", "merged"),
            ("30T00:00Z", "30 03:00", ""),
        ]

    def test_moved_and_real_runs_come_in_the_order_of_instants(self) -> None:
        found = told("0 15 3,4 * * *", "Europe/Bucharest", "2026-03-29T00:00Z", "2026-03-29T23:00Z")
        mixed = told(
            "0 50,5 3,4 29 3 *", "Europe/Bucharest", "2026-03-29T00:00Z", "2026-03-29T23:00Z"
        )

        assert found == [("29T01:15Z", "29 04:15", "merged")]
        assert mixed == [("29T01:05Z", "29 04:05", "merged"), ("29T01:50Z", "29 04:50", "merged")]

    def test_occurrences_say_what_the_fold_did(self) -> None:
        found = told("0 30 2-4 * * *", "Europe/Bucharest", "2026-10-24T23:00Z", "2026-10-25T12:00Z")

        assert found == [
            ("24T23:30Z", "25 02:30", ""),
            ("25T00:30Z", "25 03:30", "first of a repeated hour"),
            ("25T02:30Z", "25 04:30", ""),
        ]

    def test_moved_run_alone_keeps_the_wall_time_it_was_written_as(self) -> None:
        found = told("0 30 3 * * *", "Europe/Bucharest", "2026-03-29T00:00Z", "2026-03-29T12:00Z")

        assert found == [("29T01:30Z", "29 03:30", "moved by a gap")]

    def test_latest_occurrence_in_the_shadow_is_the_moved_one(self) -> None:
        schedule = CronSchedule("0 30 3 * * *", "Europe/Bucharest")

        before = schedule.previous_instant(datetime(2026, 3, 29, 1, 29, tzinfo=UTC))
        at = schedule.previous_instant(datetime(2026, 3, 29, 1, 30, tzinfo=UTC))

        assert before == datetime(2026, 3, 28, 1, 30, tzinfo=UTC)
        assert at == datetime(2026, 3, 29, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expr", "zone", "after", "expected"),
    [
        ("0 15 2 * * *", "Australia/Lord_Howe", "2026-10-03T12:00Z", "2026-10-04T02:45:00+11:00"),
        ("0 30 1 * * *", "Antarctica/Troll", "2026-03-28T12:00Z", "2026-03-29T03:30:00+02:00"),
        ("0 0 0 * * *", "America/Santiago", "2026-09-05T12:00Z", "2026-09-06T01:00:00-03:00"),
        ("0 0 0 * * *", "Africa/Cairo", "2026-04-23T12:00Z", "2026-04-24T01:00:00+03:00"),
        ("0 0 0 * * *", "Asia/Beirut", "2026-03-28T12:00Z", "2026-03-29T01:00:00+03:00"),
        ("0 0 12 30 12 *", "Pacific/Apia", "2011-12-30T09:00Z", "2011-12-31T12:00:00+14:00"),
    ],
)
def test_every_kind_of_gap_moves_a_run_by_its_length(
    expr: str, zone: str, after: str, expected: str
) -> None:
    assert first(expr, zone, after) == expected


def test_day_that_was_skipped_becomes_one_run_with_the_day_after() -> None:
    found = told("0 0 18 * * *", "Pacific/Apia", "2011-12-30T00:00Z", "2011-12-31T12:00Z")

    assert found == [("30T04:00Z", "29 18:00", ""), ("31T04:00Z", "31 18:00", "merged")]


def test_seconds_of_a_skipped_day_are_counted_once() -> None:
    schedule = CronSchedule("* * * * * *", "Pacific/Apia")
    start, end = datetime(2011, 12, 29, tzinfo=UTC), datetime(2012, 1, 3, tzinfo=UTC)

    assert schedule.count(start, end) == 5 * 86_400


@pytest.mark.parametrize(
    ("name", "expected"),
    [("UTC", 94_694_400), ("Europe/Berlin", 94_694_400 - 3 * 3600), ("Asia/Kolkata", 94_694_400)],
)
def test_three_years_of_seconds_are_counted_by_arithmetic(name: str, expected: int) -> None:
    start, end = datetime(2026, 1, 1, tzinfo=UTC), datetime(2029, 1, 1, tzinfo=UTC)

    assert CronSchedule("* * * * * *", name).count(start, end) == expected


EXPRESSIONS = [
    "0 0 * * * *",
    "*/7 */11 */5 * * *",
    "0 30 9 * * MON-FRI",
    "0 0 0 29 2 *",
    "0 0 6 1,15 * *",
    "0 0 6 1 * FRI",
    "0 0 6 L * *",
    "0 0 6 L 2 *",
    "0 15 2 * MAR SUN#2",
    "0 30 2 * 3 L0",
    "0 0 0 * * MON#5",
    "0 0 0 15W * *",
    "5,50 59 23 31 12 *",
    "10/20 0 0 */9 * *",
    "0 0 22-2 28-31 NOV-FEB *",
    "30 5 4 * 2,6 SAT",
]


@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_croniter_agrees_in_utc(expr: str) -> None:
    schedule, rng = CronSchedule(expr), Random(expr)
    for _ in range(40):
        after = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=rng.randrange(10**9))
        second = croniter(expr, after, second_at_beginning=True)

        for _ in range(4):
            after = schedule.next(after)
            assert after == second.get_next(datetime)


@pytest.mark.parametrize(
    "zone", ["UTC", "America/Santiago", "Europe/Berlin", "Australia/Lord_Howe"]
)
@pytest.mark.parametrize("expr", EXPRESSIONS)
def test_walking_on_walking_back_and_listing_find_the_same(expr: str, zone: str) -> None:
    schedule, start = CronSchedule(expr, zone), datetime(2026, 1, 1, tzinfo=UTC)
    moment = start
    forward = [moment := schedule.next(moment).astimezone(UTC) for _ in range(60)]

    backward = [forward[-1]]
    while len(backward) < len(forward):
        earlier = schedule.previous_instant(backward[-1] - timedelta(seconds=1))
        assert earlier is not None
        backward.append(earlier)

    assert backward[::-1] == forward
    assert [o.instant for o in schedule.occurrences(start, forward[-1])] == forward
    assert schedule.count(start, forward[-1]) == len(forward)


def test_fraction_of_a_second_does_not_hide_a_run() -> None:
    schedule = CronSchedule("* * * * * *")
    moment = datetime(2026, 1, 1, 0, 0, 0, 999_999, tzinfo=UTC)

    assert schedule.next(moment).isoformat() == "2026-01-01T00:00:01+00:00"
    assert schedule.previous_instant(moment) == moment.replace(microsecond=0)


def test_rare_day_is_found_over_forty_years() -> None:
    found = first("0 0 0 * 2 MON#5", "Europe/Bucharest", "2072-03-01T00:00Z")

    assert found == "2112-02-29T00:00:00+02:00"


def test_nothing_is_named_past_the_year_9998() -> None:
    schedule = CronSchedule("0 0 0 29 2 *")
    late = datetime(9997, 1, 1, tzinfo=UTC)

    assert schedule.next_instant(late) is None
    with pytest.raises(InstantError, match="year 9999"):
        schedule.next(late)


@pytest.mark.parametrize(
    "zone", ["UTC", "Pacific/Kiritimati", "Pacific/Pago_Pago", "Europe/Berlin"]
)
@pytest.mark.parametrize("offset_h", [-14, 0, 14])
def test_ends_of_the_calendar_are_answered(zone: str, offset_h: int) -> None:
    schedule = CronSchedule("0 0 12 * * *", zone)
    edge = timezone(timedelta(hours=offset_h))
    earliest, latest = datetime.min.replace(tzinfo=edge), datetime.max.replace(tzinfo=edge)

    found = schedule.next_instant(earliest)
    last = schedule.previous_instant(latest)

    assert found is not None
    assert found.year in (1, 2)
    assert last is not None
    assert last.year == 9998
    assert schedule.next_instant(latest) is None
    assert schedule.previous_instant(earliest) is None
    assert schedule.count(last - timedelta(days=10), latest) == 10
    assert schedule.occurrences(latest, earliest) == []


def test_naive_moments_are_refused() -> None:
    schedule = CronSchedule("0 0 0 * * *")
    naive = datetime(2026, 1, 1)  # noqa: DTZ001 - the point of the test
    aware = naive.replace(tzinfo=UTC)

    with pytest.raises(InstantError, match="naive"):
        schedule.next(naive)
    with pytest.raises(InstantError, match="naive"):
        schedule.next_instant(naive)
    with pytest.raises(InstantError, match="naive"):
        schedule.previous_instant(naive)
    with pytest.raises(InstantError, match="naive"):
        schedule.occurrences(aware, naive)
    with pytest.raises(InstantError, match="naive"):
        schedule.count(naive, aware)


def test_schedules_are_equal_by_expression_and_zone() -> None:
    one, same = (
        CronSchedule("0  0 9 * * *", "Europe/Berlin"),
        CronSchedule("0 0 9 * * *", "Europe/Berlin"),
    )

    assert one == same
    assert hash(one) == hash(same)
    assert one != CronSchedule("0 0 9 * * *", "Europe/Paris")
    assert repr(one) == "CronSchedule(expr='0 0 9 * * *', zone='Europe/Berlin')"


def test_schedule_cannot_be_changed() -> None:
    schedule = CronSchedule("0 0 9 * * *")

    with pytest.raises(AttributeError):
        setattr(schedule, "expr", "0 0 10 * * *")  # noqa: B010 - checkers refuse the plain form


def test_schedule_survives_a_pickle() -> None:
    schedule = CronSchedule("0 0 9 * * *", "Europe/Berlin")

    assert pickle.loads(pickle.dumps(schedule)) == schedule


def test_answer_is_in_the_zone_of_the_schedule() -> None:
    found = CronSchedule("0 0 9 * * *", "Europe/Berlin").next(datetime(2026, 7, 1, tzinfo=UTC))

    assert str(found.tzinfo) == "Europe/Berlin"


def test_bad_expression_and_unknown_zone_are_refused_when_made() -> None:
    with pytest.raises(CronSyntaxError):
        CronSchedule("0 0 25 * * *")
    with pytest.raises(UnknownZoneError):
        CronSchedule("0 0 9 * * *", "Europe/Atlantis")
