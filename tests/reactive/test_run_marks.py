"""Marks on lanes: 29 March 2026 03:00 -> 04:00 and 25 October 2026 04:00 -> 03:00 in Bucharest."""

from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.schedule import Interval
from rxferrix_lab.reactive.run_marks import (
    LANES_SHOWN,
    MOST_MARKS,
    Lane,
    NamedSchedule,
    lanes_between,
    marks_between,
    schedule_named,
    schedules_of,
)

BUCHAREST = "Europe/Bucharest"
SPRING = datetime(2026, 3, 29, 1, tzinfo=UTC)
AUTUMN = datetime(2026, 10, 25, 1, tzinfo=UTC)
HOURS = timedelta(hours=1)


def lane(expr: str, around: datetime, zone: str = BUCHAREST) -> Lane:
    return marks_between(CronSchedule(expr, zone), zone, around - 4 * HOURS, around + 4 * HOURS)


def told(lane: Lane) -> list[tuple[str, str, str]]:
    return [(m.kind, m.instant.strftime("%H:%M"), m.wall.strftime("%H:%M")) for m in lane.marks]


def test_time_in_the_gap_is_marked_where_it_runs_and_where_it_does_not_exist() -> None:
    found = lane("0 30 3 * * *", SPRING)

    assert told(found) == [("moved", "01:30", "04:30"), ("skipped time", "01:00", "03:30")]
    assert found.marks[0].said == "03:30 does not exist; runs at 04:30"


def test_run_that_takes_in_a_skipped_one_is_marked_as_merged() -> None:
    found = lane("0 0 3,4 * * *", SPRING)

    assert told(found) == [("merged", "01:00", "04:00"), ("skipped time", "01:00", "03:00")]


def test_repeated_time_runs_first_and_its_second_passing_is_marked() -> None:
    found = lane("0 30 3 * * *", AUTUMN)

    assert told(found) == [("first only", "00:30", "03:30"), ("second passing", "01:30", "03:30")]


@pytest.mark.parametrize(
    ("zone", "change", "expr", "moved_to"),
    [
        ("Australia/Lord_Howe", "2026-10-03T15:30", "0 15 2 * * *", "02:45"),
        ("Antarctica/Troll", "2026-03-29T01:00", "0 30 1 * * *", "03:30"),
        ("America/Santiago", "2026-09-06T04:00", "0 30 0 * * *", "01:30"),
        ("Pacific/Apia", "2011-12-30T10:00", "0 0 12 30 12 *", "12:00"),
    ],
)
def test_moved_run_is_later_by_the_length_of_any_gap(
    zone: str, change: str, expr: str, moved_to: str
) -> None:
    at = datetime.fromisoformat(change).replace(tzinfo=UTC)
    start, end = at - timedelta(hours=1), at + timedelta(hours=36)

    marks = marks_between(CronSchedule(expr, zone), zone, start, end).marks

    assert [f"{mark.wall:%H:%M}" for mark in marks if mark.kind == "moved"] == [moved_to]


def test_crowded_lane_is_drawn_by_a_sample_that_says_how_many_it_stands_for() -> None:
    found = lane("* * * * * *", SPRING)

    assert found.is_sampled
    assert found.runs == 8 * 3600
    assert len(found.marks) <= MOST_MARKS
    assert {"run", "merged", "skipped time"} == {mark.kind for mark in found.marks}


def test_interval_is_untouched_by_a_clock_change() -> None:
    every = Interval(timedelta(minutes=30), SPRING)

    found = marks_between(every, BUCHAREST, SPRING - HOURS, SPRING + HOURS)

    assert {mark.kind for mark in found.marks} == {"run"}


def test_lanes_name_the_changes_of_the_zone_they_are_seen_in() -> None:
    named = schedule_named("tokyo", "0 0 * * * *", "Asia/Tokyo")

    found = lanes_between([named], BUCHAREST, SPRING - HOURS, SPRING + HOURS)

    assert [change.instant for change in found.changes] == [SPRING]
    assert {mark.kind for mark in found.lanes[0].marks} == {"run"}


def test_more_schedules_than_lanes_are_counted() -> None:
    many = [schedule_named(str(n), "0 0 * * * *", "UTC") for n in range(LANES_SHOWN + 3)]

    found = lanes_between(many, "UTC", SPRING, SPRING + HOURS)

    assert (len(found.lanes), found.left_out) == (LANES_SHOWN, 3)


def stored(name: str, expr: str | None, every_us: int | None = None) -> CronRecord:
    at = SPRING
    return CronRecord(
        name=name,
        kind="cron" if every_us is None else "interval",
        expr=expr,
        zone="UTC" if every_us is None else None,
        every_us=every_us,
        anchor=at if every_us is not None else None,
        function="f",
        args="{}",
        next_run_at=None,
        declared_at=at,
        seen_until=at,
    )


def test_stored_crons_and_intervals_have_schedules() -> None:
    found = schedules_of([stored("a", "0 0 * * * *"), stored("b", None, 60_000_000)])

    assert [(each.name, each.text, each.zone) for each in found] == [
        ("a", "0 0 * * * *", "UTC"),
        ("b", "every minute", None),
    ]


def test_row_that_cannot_be_read_has_no_schedule() -> None:
    assert schedules_of([stored("broken", "0 99 * * * *")]) == ()


def test_named_schedules_of_the_same_kind_are_equal() -> None:
    assert schedule_named("a", "0 0 * * * *", "UTC") == NamedSchedule(
        "a", CronSchedule("0 0 * * * *")
    )
