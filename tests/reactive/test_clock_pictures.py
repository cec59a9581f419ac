"""Pictures of clock changes: Bucharest, Lord Howe, Troll, Apia and Santiago."""

from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.schedule import Interval
from rxferrix_lab.domain.zone import ClockChange
from rxferrix_lab.reactive.clock_pictures import (
    Effect,
    change_picture,
    change_told,
    changes_from,
    changes_of_years,
    effect_of,
    wall_picture,
    zone_to_show,
)
from rxferrix_lab.reactive.run_marks import NamedSchedule, schedule_named

BUCHAREST = "Europe/Bucharest"
LORD_HOWE = "Australia/Lord_Howe"


def change(zone: str = BUCHAREST, year: int = 2026, at: int = 0) -> ClockChange:
    return changes_of_years(zone, year, 1)[at]


def crons(*pairs: tuple[str, str], zone: str = BUCHAREST) -> list[NamedSchedule]:
    return [schedule_named(name, expr, zone) for name, expr in pairs]


FIVE = crons(
    ("backup", "0 30 3 * * *"),
    ("report", "0 0 4 * * *"),
    ("noon", "0 0 12 * * *"),
    ("billing", "0 15 3 * * 0"),
    ("both", "0 0 3,4 * * *"),
)


def test_changes_of_the_next_years_begin_after_the_moment() -> None:
    found = changes_from(BUCHAREST, datetime(2026, 6, 1, tzinfo=UTC), 1)

    assert [each.instant.isoformat() for each in found] == [
        "2026-10-25T01:00:00+00:00",
        "2027-03-28T01:00:00+00:00",
    ]


@pytest.mark.parametrize(
    ("zone", "year", "at", "told"),
    [
        (BUCHAREST, 2026, 0, "On 29 March 2026 the clocks in {} go from 03:00 to 04:00"),
        (BUCHAREST, 2026, 1, "On 25 October 2026 the clocks in {} go back from 04:00 to 03:00"),
        (LORD_HOWE, 2026, 1, "On 4 October 2026 the clocks in {} go from 02:00 to 02:30"),
        ("Antarctica/Troll", 2026, 0, "On 29 March 2026 the clocks in {} go from 01:00 to 03:00"),
        (
            "Pacific/Apia", 2011, 2,
            "On 30 December 2011 the clocks in {} go from 00:00 to 00:00 on 31 December 2011",
        ),
        (
            "America/Santiago", 2026, 0,
            "On 5 April 2026 the clocks in {} go back from 00:00 to 23:00 on 4 April 2026",
        ),
    ],
)  # fmt: skip
def test_change_is_told_by_what_the_clock_shows(zone: str, year: int, at: int, told: str) -> None:
    assert change_told(zone, change(zone, year, at)) == told.format(zone)


def test_sentence_counts_the_moved_crons_and_the_merged_pairs() -> None:
    picture = change_picture(BUCHAREST, change(), FIVE)

    assert picture.sentence == (
        "On 29 March 2026 the clocks in Europe/Bucharest go from 03:00 to 04:00; "
        "2 of 5 crons are moved, 1 pair merges."
    )


def test_sentence_of_a_repeated_hour_says_that_crons_run_once() -> None:
    picture = change_picture(BUCHAREST, change(at=1), FIVE)

    assert picture.sentence.endswith(
        "; 3 of 5 crons meet a time that comes twice and run the first time only "
        "(3 repeats left out)."
    )


def test_sentence_says_that_nothing_is_touched() -> None:
    untouched = crons(("noon", "0 0 12 * * *"), ("one", "0 0 13 * * *"))

    assert change_picture(BUCHAREST, change(), untouched).sentence.endswith(
        "; none of 2 crons is touched."
    )
    assert "no crons are declared" in change_picture(BUCHAREST, change(), []).sentence


def test_touched_crons_come_first_and_are_told_in_lines() -> None:
    picture = change_picture(BUCHAREST, change(), FIVE)

    assert [lane.named.name for lane in picture.lanes.lanes] == [
        *("backup", "billing", "both", "noon", "report"),
    ]
    first = picture.told[0]
    assert first.cron == "backup"
    assert first.lines == ("on 29 March 2026 03:30 does not exist; it runs at 04:30 EEST",)


def test_cron_of_another_zone_is_touched_by_its_own_clock_only() -> None:
    tokyo = CronSchedule("0 30 3 * * *", "Asia/Tokyo")
    athens = CronSchedule("0 30 3 * * *", "Europe/Athens")

    assert effect_of(tokyo, change()).is_none
    assert effect_of(athens, change()) == Effect(moved=1)


def test_cron_whose_clock_is_changed_otherwise_just_then_is_touched_by_that() -> None:
    troll = change("Antarctica/Troll", 2026, 0)
    bucharest = CronSchedule("0 30 3 * * *", BUCHAREST)

    assert effect_of(bucharest, troll) == Effect(moved=1)
    [told] = change_picture("Antarctica/Troll", troll, [NamedSchedule("b", bucharest)]).told
    assert told.lines == ("on 29 March 2026 03:30 does not exist; it runs at 04:30 EEST",)


def test_zone_to_show_is_that_of_most_crons_whose_clock_will_be_changed() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    tokyo = [schedule_named(str(n), "0 0 * * * *", "Asia/Tokyo") for n in range(9)]

    assert zone_to_show([*tokyo, *FIVE], now, "UTC") == BUCHAREST
    assert zone_to_show(tokyo, now, "America/New_York") == "America/New_York"


def test_interval_is_never_touched() -> None:
    every = Interval(timedelta(minutes=1), datetime(2026, 1, 1, tzinfo=UTC))

    assert effect_of(every, change()).is_none


def test_every_second_of_a_gap_is_counted() -> None:
    assert effect_of(CronSchedule("* * * * * *", BUCHAREST), change()) == Effect(merged=3600)
    assert effect_of(CronSchedule("* * * * * *", BUCHAREST), change(at=1)) == Effect(once=3600)


def test_wall_clock_of_the_picture_jumps_by_the_gap() -> None:
    picture = wall_picture(BUCHAREST, change(), FIVE[0].schedule)

    before, after = picture.stretches
    assert before.end == after.start == change().instant
    assert after.offset - before.offset == timedelta(hours=1)
    assert (picture.start, picture.end) == (before.start, after.end)


def test_nominal_time_lies_inside_the_gap_and_its_run_after_it() -> None:
    picture = wall_picture(BUCHAREST, change(), FIVE[0].schedule)

    moved, nominal = picture.marks
    assert change().wall_start <= nominal.wall < change().wall_end <= moved.wall
    assert nominal.instant == change().instant


def test_runs_of_a_cron_of_another_zone_lie_on_the_clock_of_the_picture() -> None:
    tokyo = CronSchedule("0 0 * * * *", "Asia/Tokyo")

    picture = wall_picture(BUCHAREST, change(), tokyo)

    assert {mark.wall.hour for mark in picture.marks} == {0, 1, 2, 4, 5, 6, 7, 8}


def test_picture_of_a_skipped_day_shows_days_around_it() -> None:
    skipped_day = change("Pacific/Apia", 2011, 2)

    noon = CronSchedule("0 0 12 * * *", "Pacific/Apia")
    picture = wall_picture("Pacific/Apia", skipped_day, noon)

    assert skipped_day.length == timedelta(days=1)
    assert picture.end - picture.start == timedelta(days=3)
    assert [mark.kind for mark in picture.marks].count("merged") == 1
