"""Finding jobs: filters, orders, and pages found by key."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from rxferrix_lab.domain.job import CANCELABLE, JobId, JobRecord, JobState
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.storage.job_export import exported_jobs, parquet_of, sql_of
from rxferrix_lab.storage.job_search import (
    ORDERS,
    JobPage,
    JobSearch,
    Order,
    Place,
    matching_ids,
    page_of_jobs,
)
from rxferrix_lab.storage.store import Store

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
STATES: tuple[JobState, ...] = ("pending", "succeeded", "failed")


def job(number: int) -> JobRecord:
    state = STATES[number % 3]
    error = JobError("error", "ValueError", "no Stock", "")
    return JobRecord(
        id=JobId(number),
        function=f"f{number % 4}",
        kind="action",
        args=f'{{"to":"reader {number}"}}',
        state=state,
        trigger="user",
        scheduled_for=NOON + timedelta(minutes=number),
        due_at=NOON + timedelta(minutes=number),
        created_at=NOON,
        finished_at=NOON if state != "pending" else None,
        started_at=NOON if state != "pending" else None,
        pool="mail" if number % 2 else None,
        error=error if state == "failed" else None,
    )


@pytest.fixture
def store() -> Iterator[Store]:
    """Twenty jobs, 1 to 20."""
    made = Store(":memory:")
    made.open()
    transaction = made.transaction()
    for number in range(1, 21):
        transaction.add_job(job(number))
    transaction.finish()
    yield made
    made.close()


def page(store: Store, search: JobSearch, order: Order, place: Place, size: int = 6) -> JobPage:
    with store.snapshot() as snapshot:
        return snapshot.ask(page_of_jobs, search, order, place, size)


def ids(found: JobPage) -> list[int]:
    return [int(each.id) for each in found.jobs]


def all_pages(store: Store, search: JobSearch, order: Order) -> list[JobPage]:
    pages = [page(store, search, order, Place())]
    while pages[-1].position + len(pages[-1].jobs) < pages[-1].total:
        pages.append(page(store, search, order, Place("after", pages[-1].jobs[-1].id)))
    return pages


def test_first_page_holds_the_newest(store: Store) -> None:
    found = page(store, JobSearch(), Order(), Place())

    assert (ids(found), found.total, found.position) == ([20, 19, 18, 17, 16, 15], 20, 0)


def test_last_page_holds_the_oldest_in_the_same_order(store: Store) -> None:
    found = page(store, JobSearch(), Order(), Place("last"))

    assert (ids(found), found.position) == ([6, 5, 4, 3, 2, 1], 14)


@pytest.mark.parametrize("by", ORDERS)
@pytest.mark.parametrize("is_descending", [True, False])
def test_pages_of_any_order_hold_each_job_once(store: Store, by: str, is_descending: bool) -> None:
    pages = all_pages(store, JobSearch(), Order(by, is_descending=is_descending))

    seen = [job for found in pages for job in ids(found)]
    assert sorted(seen) == list(range(1, 21))
    assert [found.position for found in pages] == [0, 6, 12, 18]


@pytest.mark.parametrize("by", ORDERS)
def test_page_before_is_the_one_that_came_before(store: Store, by: str) -> None:
    pages = all_pages(store, JobSearch(), Order(by))

    for earlier, later in pairwise(pages):
        back = page(store, JobSearch(), Order(by), Place("before", later.jobs[0].id))
        assert ids(back) == ids(earlier)


def test_page_at_a_job_begins_with_it(store: Store) -> None:
    found = page(store, JobSearch(), Order(), Place("at", JobId(12)))

    assert (ids(found)[0], found.position) == (12, 8)


def test_page_at_a_job_that_is_gone_is_the_first(store: Store) -> None:
    assert ids(page(store, JobSearch(), Order(), Place("at", JobId(99))))[0] == 20


def test_order_of_an_unknown_column_is_that_of_the_ids(store: Store) -> None:
    assert ids(page(store, JobSearch(), Order("id; DROP TABLE _scheduled_jobs"), Place()))[0] == 20


@pytest.mark.parametrize(
    ("search", "counts"),
    [
        (JobSearch(), (20, 6, 7)),
        (JobSearch(states=("pending",)), (6, 6, 0)),
        (JobSearch(states=("succeeded",)), (7, 0, 0)),
        (JobSearch(pool="mail"), (10, 3, 3)),
    ],
)
def test_page_knows_how_many_could_be_canceled_and_run_again(
    store: Store, search: JobSearch, counts: tuple[int, int, int]
) -> None:
    found = page(store, search, Order(), Place())

    assert (found.total, found.cancelable, found.rerunnable) == counts


@pytest.mark.parametrize(
    ("asked", "left"),
    [
        (None, ("pending", "running")),
        (("pending", "failed"), ("pending",)),
        (("succeeded",), ()),
    ],
)
def test_search_is_narrowed_to_some_states(
    asked: tuple[JobState, ...] | None, left: tuple[JobState, ...]
) -> None:
    search = JobSearch(states=asked, pool="mail")

    assert search.among(CANCELABLE) == JobSearch(states=left, pool="mail")


FILTERS: list[tuple[dict[str, Any], set[int]]] = [
    ({"states": ("failed",)}, {2, 5, 8, 11, 14, 17, 20}),
    ({"function": "f1"}, {1, 5, 9, 13, 17}),
    ({"pool": "mail", "states": ("pending",)}, {3, 9, 15}),
    ({"text": "READER 7"}, {7}),
    ({"text": "no stock", "function": "f0"}, {8, 20}),
    ({"job": JobId(4)}, {4}),
    ({"since": NOON + timedelta(minutes=18), "until": NOON + timedelta(minutes=20)}, {18, 19}),
    ({"text": "%"}, set()),
    ({"text": "'; DELETE FROM _scheduled_jobs --"}, set()),
]


@pytest.mark.parametrize(("wanted", "expected"), FILTERS)
def test_filter_finds(store: Store, wanted: dict[str, Any], expected: set[int]) -> None:
    with store.snapshot() as snapshot:
        assert set(snapshot.ask(matching_ids, JobSearch(**wanted))) == expected


@pytest.mark.parametrize(("wanted", "expected"), FILTERS)
def test_exported_sql_finds_the_same(
    store: Store, wanted: dict[str, Any], expected: set[int]
) -> None:
    statement = sql_of(JobSearch(**wanted))

    with store.snapshot() as snapshot:
        assert {row["id"] for row in snapshot.sql(statement.rstrip(";\n"), {}).dicts()} == expected


def test_exported_rows_are_those_that_match(store: Store) -> None:
    with store.snapshot() as snapshot:
        rows = snapshot.ask(exported_jobs, JobSearch(job=JobId(5)))

    [row] = rows.dicts()
    assert (row["id"], row["scheduled_for"]) == (5, "2026-03-01T12:05:00.000000Z")


def test_parquet_is_a_parquet_file(store: Store) -> None:
    with store.snapshot() as snapshot:
        rows = snapshot.ask(exported_jobs, JobSearch())

    assert parquet_of(rows)[:4] == b"PAR1"
