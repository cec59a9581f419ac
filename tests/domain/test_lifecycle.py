"""The transition table, written out: six states by five events, for both kinds of job."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rxferrix_lab.domain.job import FINISHED, JobId, JobKind, JobRecord, JobState
from rxferrix_lab.domain.lifecycle import (
    Cancel,
    Claim,
    Event,
    Fail,
    Interrupt,
    Succeed,
    apply,
)
from rxferrix_lab.domain.outcome import JobError

MADE = datetime(2026, 1, 1, tzinfo=UTC)
NOW = MADE + timedelta(hours=1)
LATER = MADE + timedelta(hours=2)
BOOM = JobError("error", "ValueError", "boom", "")
LOST = JobError("interrupted", "Interrupted", "the process ended", "")
UNKNOWN = JobError("unknown function", "UnknownFunctionError", "nobody registered it", "")
UNFIT = JobError("arguments", "ArgumentsError", "they no longer fit", "")

STATES: tuple[JobState, ...] = (
    "pending",
    "running",
    "canceling",
    "succeeded",
    "failed",
    "canceled",
)
EVENTS: dict[str, Event] = {
    "claim": Claim(),
    "succeed": Succeed("1"),
    "fail": Fail(BOOM),
    "cancel": Cancel(),
    "interrupt": Interrupt(LOST),
}
# A dot is a state that the event does not concern. A mutation is never running, so those rows stand
# for a table that is total, and not for something that happens.
ACTION = """
             claim      succeed    fail       cancel     interrupt
pending      running    .          .          canceled   .
running      .          succeeded  failed     canceling  failed
canceling    .          canceled   canceled   .          canceled
succeeded    .          .          .          .          .
failed       .          .          .          .          .
canceled     .          .          .          .          .
"""
MUTATION = """
             claim      succeed    fail       cancel     interrupt
pending      .          succeeded  failed     canceled   .
running      .          succeeded  failed     canceling  failed
canceling    .          canceled   canceled   .          canceled
succeeded    .          .          .          .          .
failed       .          .          .          .          .
canceled     .          .          .          .          .
"""


def job(kind: JobKind, state: JobState, *, attempt: int = 0, max_attempts: int = 1) -> JobRecord:
    has_ended = state in FINISHED
    return JobRecord(
        id=JobId(1),
        function="f",
        kind=kind,
        args="{}",
        state=state,
        trigger="user",
        scheduled_for=MADE,
        due_at=MADE,
        created_at=MADE,
        finished_at=MADE if has_ended else None,
        attempt=attempt,
        max_attempts=max_attempts,
        result="1" if state == "succeeded" else None,
        error=BOOM if state == "failed" else None,
    )


def cells(table: str) -> list[tuple[JobState, str, str]]:
    header, *rows = (line.split() for line in table.strip().splitlines())
    return [
        (state, event, after)
        for name, *row in rows
        for state in STATES
        if state == name
        for event, after in zip(header, row, strict=True)
    ]


@pytest.mark.parametrize(("state", "event", "after"), cells(ACTION))
def test_an_action_moves_as_the_table_says(state: JobState, event: str, after: str) -> None:
    before = job("action", state, attempt=1)

    assert apply(before, EVENTS[event], NOW).state == (state if after == "." else after)


@pytest.mark.parametrize(("state", "event", "after"), cells(MUTATION))
def test_a_mutation_moves_as_the_table_says(state: JobState, event: str, after: str) -> None:
    before = job("mutation", state)

    assert apply(before, EVENTS[event], NOW).state == (state if after == "." else after)


@pytest.mark.parametrize(("kind", "table"), [("action", ACTION), ("mutation", MUTATION)])
def test_what_an_event_does_not_concern_comes_back_as_the_same_object(
    kind: JobKind, table: str
) -> None:
    for state, event, after in cells(table):
        before = job(kind, state)
        assert (apply(before, EVENTS[event], NOW) is before) == (after == ".")


class TestClaim:
    def test_it_begins_the_next_attempt_now(self) -> None:
        before = job("action", "pending", attempt=1, max_attempts=3)

        after = apply(before, Claim(), NOW)

        assert (after.attempt, after.started_at) == (2, NOW)

    def test_it_forgets_the_error_of_the_attempt_before(self) -> None:
        before = replace(job("action", "pending", attempt=1, max_attempts=3), error=BOOM)

        assert apply(before, Claim(), NOW).error is None


class TestSuccess:
    def test_a_mutation_begins_and_ends_in_one_commit(self) -> None:
        after = apply(job("mutation", "pending"), Succeed("7"), NOW)

        assert (after.attempt, after.started_at, after.finished_at) == (1, NOW, NOW)
        assert after.result == "7"

    def test_an_action_keeps_when_it_began(self) -> None:
        running = apply(job("action", "pending"), Claim(), NOW)

        after = apply(running, Succeed("7"), LATER)

        assert (after.started_at, after.finished_at, after.result) == (NOW, LATER, "7")


class TestFailure:
    def test_a_mutation_is_not_retried(self) -> None:
        after = apply(job("mutation", "pending", max_attempts=5), Fail(BOOM, LATER), NOW)

        assert (after.state, after.attempt, after.error) == ("failed", 1, BOOM)

    def test_an_action_with_attempts_left_is_pending_until_the_later_time(self) -> None:
        running = job("action", "running", attempt=1, max_attempts=2)

        after = apply(running, Fail(BOOM, LATER), NOW)

        assert (after.state, after.due_at, after.attempt) == ("pending", LATER, 1)
        assert after.is_waiting_for_retry
        assert after.scheduled_for == MADE

    def test_the_last_attempt_is_not_retried_whatever_it_is_told(self) -> None:
        running = job("action", "running", attempt=2, max_attempts=2)

        assert apply(running, Fail(BOOM, LATER), NOW).state == "failed"

    @pytest.mark.parametrize("error", [UNKNOWN, UNFIT])
    @pytest.mark.parametrize("kind", ["mutation", "action"])
    def test_a_function_that_cannot_be_called_begins_no_attempt(
        self, kind: JobKind, error: JobError
    ) -> None:
        after = apply(job(kind, "pending"), Fail(error), NOW)

        assert (after.state, after.attempt, after.started_at) == ("failed", 0, None)


class TestCancellation:
    def test_a_pending_job_ends_at_once(self) -> None:
        after = apply(job("action", "pending"), Cancel(), NOW)

        assert (after.cancel_requested_at, after.finished_at) == (NOW, NOW)

    def test_a_job_that_waits_for_a_retry_ends_without_its_old_error(self) -> None:
        waiting = replace(job("action", "pending", attempt=1, max_attempts=2), error=BOOM)

        assert apply(waiting, Cancel(), NOW).error is None

    def test_a_running_action_notes_when_it_was_asked(self) -> None:
        after = apply(job("action", "running", attempt=1), Cancel(), NOW)

        assert (after.cancel_requested_at, after.finished_at) == (NOW, None)

    @pytest.mark.parametrize(
        "event", [Succeed("1"), Fail(BOOM), Fail(BOOM, LATER), Interrupt(LOST)]
    )
    def test_it_wins_over_whatever_the_action_says_later(self, event: Event) -> None:
        asked = job("action", "canceling", attempt=1, max_attempts=5)

        after = apply(asked, event, NOW)

        assert (after.state, after.result, after.error) == ("canceled", None, None)


retry_times = st.none() | st.datetimes(timezones=st.just(UTC))
events = st.one_of(
    st.just(Claim()),
    st.builds(Succeed, st.just("1")),
    st.builds(Fail, st.sampled_from([BOOM, LOST, UNKNOWN, UNFIT]), retry_times),
    st.just(Cancel()),
    st.just(Interrupt(LOST)),
)
kinds = st.sampled_from(["mutation", "action"])
jobs = st.builds(
    job,
    kinds,
    st.sampled_from(STATES),
    attempt=st.integers(0, 5),
    max_attempts=st.integers(1, 5),
)
new_jobs = st.builds(job, kinds, st.just("pending"), max_attempts=st.integers(1, 5))


class TestLaws:
    @given(jobs, events)
    def test_apply_is_total(self, before: JobRecord, event: Event) -> None:
        assert apply(before, event, NOW).state in STATES

    @given(jobs, events)
    def test_what_has_ended_never_changes(self, before: JobRecord, event: Event) -> None:
        if before.is_finished:
            assert apply(before, event, NOW) is before

    @given(jobs, events)
    def test_a_job_has_an_end_if_and_only_if_its_state_is_terminal(
        self, before: JobRecord, event: Event
    ) -> None:
        after = apply(before, event, NOW)

        assert (after.finished_at is not None) == after.is_finished

    @given(new_jobs, st.lists(events, max_size=30))
    def test_a_job_that_was_canceled_never_ends_succeeded(
        self, new: JobRecord, history: list[Event]
    ) -> None:
        seen = new
        for event in history:
            seen = apply(seen, event, NOW)

        assert not (seen.cancel_requested_at is not None and seen.state == "succeeded")

    @given(new_jobs, st.lists(events, max_size=30))
    def test_no_more_attempts_begin_than_are_allowed(
        self, new: JobRecord, history: list[Event]
    ) -> None:
        seen = new
        for event in history:
            seen = apply(seen, event, NOW)

        assert seen.attempt <= seen.max_attempts

    @given(new_jobs, st.lists(events, max_size=30))
    def test_a_mutation_is_never_running(self, new: JobRecord, history: list[Event]) -> None:
        seen = new
        for event in history:
            seen = apply(seen, event, NOW)
            assert seen.kind == "action" or seen.state not in ("running", "canceling")

    @given(new_jobs, st.lists(events, max_size=30))
    def test_only_a_success_leaves_a_result(self, new: JobRecord, history: list[Event]) -> None:
        seen = new
        for event in history:
            seen = apply(seen, event, NOW)

        assert (seen.result is not None) == (seen.state == "succeeded")
