"""Jobs as rows: text in the zone, and the buttons that make sense."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab.domain.job import JobId, JobRecord, JobState
from rxferrix_lab.views.job_rows import buttons, ran, rows_of, waited

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
JOB = JobRecord(JobId(7), "send", "action", '{"to":"ann"}', "pending", "user", NOON, NOON, NOON)
MINUTE = timedelta(minutes=1)


def test_times_are_those_of_the_zone() -> None:
    [row] = rows_of([JOB], "Asia/Tokyo", NOON, with_buttons=True)

    assert row["asked"] == "Wed 1 Jul 21:00:00"


def test_state_is_a_chip_and_a_word() -> None:
    [row] = rows_of([replace(JOB, attempt=1)], "UTC", NOON, with_buttons=True)

    assert row["state"] == {"chip": "pending", "note": "(retry)"}


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("pending", ["cancel"]),
        ("running", ["cancel"]),
        ("canceling", []),
        ("succeeded", []),
        ("failed", ["rerun"]),
        ("canceled", ["rerun"]),
    ],
)
def test_buttons_fit_the_state(state: JobState, expected: list[str]) -> None:
    job = JobRecord(JobId(7), "send", "action", "{}", state, "user", NOON, NOON, NOON)

    assert buttons(job) == expected


def test_viewer_gets_no_buttons() -> None:
    [row] = rows_of([JOB], "UTC", NOON, with_buttons=False)

    assert row["_actions"] == []


def test_job_that_is_due_waits_until_now() -> None:
    assert (waited(JOB, NOON + MINUTE), ran(JOB, NOON + MINUTE)) == ("1 min", "–")


def test_job_younger_than_the_picture_has_run_for_nothing() -> None:
    job = JobRecord(
        *(JobId(7), "send", "action", "{}", "running", "user", NOON, NOON, NOON),
        started_at=NOON + MINUTE,
    )

    assert ran(job, NOON) == "0 ms"
