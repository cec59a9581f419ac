"""Jobs that somebody waits for: each wait is told once, or given up, and nothing is left."""

from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.engine.awaited_jobs import AwaitedJobs
from rxferrix_lab.errors import NotRunningError

NOW = datetime(2026, 1, 1, tzinfo=UTC)
PENDING = JobRecord(
    JobId(1), "work", "mutation", "{}", "pending", "user", NOW, NOW, NOW
)  # fmt: skip
ENDED = replace(PENDING, state="succeeded", finished_at=NOW)


def test_everybody_who_waits_is_told_when_the_job_has_ended() -> None:
    awaited = AwaitedJobs()
    waits = [awaited.when_ended(JobId(1)), awaited.when_ended(JobId(1))]
    awaited.tell([PENDING])
    assert not any(wait.done() for wait in waits)
    awaited.tell([ENDED])

    assert [wait.result(0) for wait in waits] == [ENDED, ENDED]
    assert awaited.count == 0


def test_another_jobs_end_tells_nobody() -> None:
    awaited = AwaitedJobs()
    wait = awaited.when_ended(JobId(2))
    awaited.tell([ENDED])

    assert not wait.done()


def test_a_wait_that_is_stopped_leaves_nothing_and_the_others_wait_on() -> None:
    awaited = AwaitedJobs()
    first, second = awaited.when_ended(JobId(1)), awaited.when_ended(JobId(1))
    awaited.stop_waiting(JobId(1), first)
    awaited.tell([ENDED])
    awaited.stop_waiting(JobId(1), second)

    assert not first.done()
    assert second.result(0) == ENDED
    assert awaited.count == 0


def test_a_wait_that_was_cancelled_is_passed_over() -> None:
    awaited = AwaitedJobs()
    gone: Future[JobRecord] = awaited.when_ended(JobId(1))
    gone.cancel()
    awaited.tell([ENDED])

    assert gone.cancelled()


def test_after_the_stop_no_wait_goes_on() -> None:
    awaited = AwaitedJobs()
    wait = awaited.when_ended(JobId(1))
    awaited.give_up()

    with pytest.raises(NotRunningError):
        wait.result(0)
    assert awaited.count == 0
