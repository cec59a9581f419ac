"""Ids: drawn once, over whatever rows brought along."""

import duckdb
import pytest

from rxferrix_lab.storage.ids import (
    LARGEST_ID,
    LAST_DRAWN,
    MOST_REMEMBERED,
    IdSequence,
    begin_above_largest,
    is_id,
    step_over_rows,
)


def table_of(*ids: int | None) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE t (id BIGINT)")
    if ids:
        connection.executemany("INSERT INTO t VALUES (?)", [[row] for row in ids])
    return connection


def test_ids_count_up() -> None:
    ids = IdSequence()

    assert [ids.draw() for _ in range(3)] == [1, 2, 3]


def test_a_given_id_is_stepped_over() -> None:
    ids = IdSequence()
    ids.step_over(2)
    ids.step_over(3)

    assert [ids.draw() for _ in range(2)] == [1, 4]


def test_an_id_given_after_it_was_drawn_changes_nothing() -> None:
    ids = IdSequence(next_id=5)
    ids.step_over(3)

    assert ids.draw() == 5
    assert not ids.taken


def test_many_given_ids_cost_little_memory_and_are_all_stepped_over() -> None:
    ids = IdSequence()
    for given in range(1, MOST_REMEMBERED * 3):
        ids.step_over(given)

    assert len(ids.taken) <= MOST_REMEMBERED
    assert ids.draw() == MOST_REMEMBERED * 3


def test_a_huge_given_id_among_many_does_not_use_up_the_rest() -> None:
    ids = IdSequence()
    ids.step_over(LARGEST_ID)
    for given in range(1, MOST_REMEMBERED + 2):
        ids.step_over(given)

    assert ids.draw() == MOST_REMEMBERED + 2


def test_the_last_id_is_never_drawn_so_that_its_mark_fits_a_bigint() -> None:
    ids = IdSequence(next_id=LAST_DRAWN)

    assert ids.draw() == LAST_DRAWN
    assert ids.next_mark(0) == LARGEST_ID
    with pytest.raises(OverflowError, match="no id is left"):
        ids.draw()


def test_the_mark_is_ahead_of_what_was_drawn() -> None:
    ids = IdSequence()
    ids.draw()

    assert ids.next_mark(0) > ids.next_id
    assert ids.next_mark(1_000) > ids.next_id + 1_000


def test_who_draws_fast_gets_larger_blocks() -> None:
    ids = IdSequence()
    first, second = ids.next_mark(0), ids.next_mark(0)

    assert second - ids.next_id > first - ids.next_id


@pytest.mark.parametrize(
    ("rows", "begins"),
    [
        ([], 1),
        ([None], 1),
        ([-5, 0], 1),
        ([3, 9, None], 10),
        ([LARGEST_ID], 1),
        ([1, 2, 7, LARGEST_ID], 8),
        ([4, LAST_DRAWN, LARGEST_ID, None], 5),
        ([4, LAST_DRAWN - 1], LAST_DRAWN),
    ],
)
def test_ids_begin_above_the_largest_that_leaves_room(rows: list[int | None], begins: int) -> None:
    ids = IdSequence()
    begin_above_largest(table_of(*rows), "t", ids)

    assert ids.draw() == begins


def test_ids_begin_above_what_was_drawn_before() -> None:
    ids = IdSequence(next_id=50)
    begin_above_largest(table_of(7), "t", ids)

    assert ids.draw() == 50


def test_no_id_is_left_where_the_last_ones_are_taken() -> None:
    ids = IdSequence()
    begin_above_largest(table_of(LAST_DRAWN - 2, LAST_DRAWN, LARGEST_ID), "t", ids)

    assert ids.draw() == LAST_DRAWN - 1
    with pytest.raises(OverflowError):
        ids.draw()


def test_rows_are_stepped_over_one_by_one_where_they_are_few() -> None:
    ids = IdSequence(next_id=2)
    step_over_rows(table_of(1, 3, 4, LARGEST_ID), "t", ids)

    assert [ids.draw() for _ in range(3)] == [2, 5, 6]


def test_rows_are_left_behind_at_once_where_they_are_many() -> None:
    connection = table_of(LARGEST_ID)
    connection.execute("INSERT INTO t SELECT * FROM range(10, 30000)")
    ids = IdSequence(next_id=2)
    step_over_rows(connection, "t", ids)

    assert ids.draw() == 30_000


@pytest.mark.parametrize("value", [0, -7, LARGEST_ID, -LARGEST_ID])
def test_a_whole_number_that_fits_a_bigint_is_an_id(value: int) -> None:
    assert is_id(value)


@pytest.mark.parametrize("value", [True, 1.0, "1", None, LARGEST_ID + 1, -LARGEST_ID - 1])
def test_nothing_else_is_an_id(value: object) -> None:
    assert not is_id(value)
