"""Spans of settled occurrences: what ran is known for good, and takes little room."""

from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab.domain.cron_spans import MOST_SPANS, SettledSpans

START = datetime(2026, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)


def hour(number: int) -> datetime:
    return START + number * HOUR


def test_occurrences_that_follow_each_other_share_a_span() -> None:
    spans = SettledSpans()
    for number in range(100):
        spans = spans.adding(hour(number), hour(number - 1))

    assert spans.spans == ((hour(0), hour(99)),)


def test_occurrence_after_one_that_did_not_run_begins_a_span() -> None:
    spans = SettledSpans().adding(hour(0), hour(-1)).adding(hour(5), hour(4))

    assert spans.spans == ((hour(0), hour(0)), (hour(5), hour(5)))
    assert spans.around(hour(3)) is None


def test_earlier_span_grows_up_to_a_later_one() -> None:
    spans = SettledSpans().adding(hour(5), hour(4)).adding(hour(0), hour(-1))
    for number in range(1, 5):
        spans = spans.adding(hour(number), hour(number - 1))

    assert all(spans.around(hour(number)) for number in range(6))
    assert spans.adding(hour(6), hour(5)).spans == ((hour(0), hour(4)), (hour(5), hour(6)))


def test_settled_occurrence_is_not_added_again() -> None:
    spans = SettledSpans().adding(hour(0), None)

    assert spans.adding(hour(0), None) is spans


def test_oldest_spans_become_one_where_there_are_too_many() -> None:
    spans = SettledSpans()
    for number in range(MOST_SPANS + 1):
        spans = spans.adding(hour(2 * number), hour(2 * number - 1))

    assert len(spans.spans) == MOST_SPANS
    assert spans.spans[0] == (hour(0), hour(2))
    assert spans.spans[-1] == (hour(2 * MOST_SPANS), hour(2 * MOST_SPANS))


def test_parts_within_two_instants_are_cut_to_them() -> None:
    spans = SettledSpans(((hour(0), hour(3)), (hour(6), hour(9))))

    assert spans.within(hour(2), hour(7)) == [(hour(2), hour(3)), (hour(6), hour(7))]
    assert spans.within(hour(4), hour(5)) == []


def test_spans_come_back_from_their_text() -> None:
    spans = SettledSpans(((hour(0), hour(3)), (hour(6), hour(6) + timedelta(microseconds=1))))

    assert SettledSpans.read(spans.text()) == spans


@pytest.mark.parametrize("text", ["", "null", "{}", "[1]", "[[1]]", "[[1e400, 2]]", '[["a", "b"]]'])
def test_damaged_text_holds_no_spans(text: str) -> None:
    assert SettledSpans.read(text) == SettledSpans()
