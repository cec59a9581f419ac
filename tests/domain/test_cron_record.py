"""The row of a cron: what follows, what is left, and how it goes on."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab.domain.cron_record import CronRecord, DeclaredCron
from rxferrix_lab.errors import CronSyntaxError, InstantError, UnknownZoneError

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
HOURLY = DeclaredCron("hourly", "cron", "0 0 * * * *", "UTC", None, "note", "{}")
EVERY_HOUR = DeclaredCron("beat", "interval", None, None, 3_600_000_000, "note", "{}")


def settled(record: CronRecord, *hours: int) -> CronRecord:
    for hour in hours:
        record = record.settling(START + hour * HOUR)
    return record


def test_settled_occurrence_does_not_follow_again() -> None:
    record = settled(HOURLY.record(START, None), 1, 2, 3)

    assert record.next_run_at == START + 4 * HOUR
    assert record.seen_until == START + 3 * HOUR
    assert record.going_on_from(START).next_run_at == START + 4 * HOUR


def test_occurrence_that_passed_unseen_may_still_follow() -> None:
    record = settled(HOURLY.record(START, None), 1, 5)

    assert record.going_on_from(START).next_run_at == START + 2 * HOUR


def test_latest_and_number_leave_out_what_is_settled() -> None:
    record = settled(HOURLY.record(START, None), 1, 2, 5)

    assert record.latest(START + 5 * HOUR) == START + 4 * HOUR
    assert record.unsettled(START + HOUR, START + 6 * HOUR) == 3


def test_interval_whose_anchor_lies_ahead_keeps_its_distance_to_it() -> None:
    ahead = EVERY_HOUR.record(START + 3 * DAY + timedelta(minutes=20), None)

    record = ahead.going_on_from(START)

    assert record.anchor == START - timedelta(minutes=40)
    assert record.next_run_at == START + timedelta(minutes=20)


def test_interval_keeps_an_anchor_that_has_passed() -> None:
    record = EVERY_HOUR.record(START, None).going_on_from(START + 90 * timedelta(minutes=1))

    assert (record.anchor, record.next_run_at) == (START, START + 2 * HOUR)


def test_only_occurrences_are_named() -> None:
    record = HOURLY.record(START, None)

    assert record.names(START + HOUR)
    assert not record.names(START + HOUR + timedelta(seconds=1))


def test_row_runs_like_the_declaration_of_the_same_schedule() -> None:
    record = HOURLY.record(START, None)

    assert record.runs_like(replace(HOURLY, function="other", args="[1]"))
    assert not record.runs_like(replace(HOURLY, zone="Europe/Paris"))
    assert not record.runs_like(replace(HOURLY, expr="0 1 * * * *"))
    assert not record.runs_like(EVERY_HOUR)


@pytest.mark.parametrize(
    ("damaged", "error"),
    [
        (replace(HOURLY.record(START, None), expr="0 0 25 * * *"), CronSyntaxError),
        (replace(HOURLY.record(START, None), expr=None), CronSyntaxError),
        (replace(HOURLY.record(START, None), zone="Mars/Olympus"), UnknownZoneError),
        (replace(HOURLY.record(START, None), zone=None), UnknownZoneError),
        (replace(EVERY_HOUR.record(START, None), anchor=None), InstantError),
        (replace(EVERY_HOUR.record(START, None), every_us=1), InstantError),
    ],
)
def test_damaged_row_has_no_schedule(damaged: CronRecord, error: type[Exception]) -> None:
    with pytest.raises(error):
        damaged.schedule()
