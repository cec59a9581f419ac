"""Rows held back: merged while they wait, checked when they are written."""

import duckdb
import pytest

from rxferrix_lab.errors import TableError, UnknownRowError
from rxferrix_lab.storage.buffered_rows import BufferedRows, RowConflictError
from rxferrix_lab.storage.catalog import Catalog


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute("CREATE TABLE notes (id BIGINT, text VARCHAR, size INTEGER DEFAULT 7)")
    connection.execute("INSERT INTO notes VALUES (1, 'a', 1), (2, 'b', 2)")
    return connection


@pytest.fixture
def owed(connection: duckdb.DuckDBPyConnection) -> BufferedRows:
    return BufferedRows(Catalog(connection).shape("notes"))


def rows(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    return connection.execute("SELECT * FROM notes ORDER BY id").fetchall()


def test_what_is_owed_is_written_once(
    connection: duckdb.DuckDBPyConnection, owed: BufferedRows
) -> None:
    owed.inserts[5] = {"text": "e"}
    owed.patch(1, {"size": 9})
    owed.deletes.add(2)

    owed.write(connection)
    owed.write(connection)

    assert rows(connection) == [(1, "a", 9), (5, "e", 7)]
    assert owed.is_empty


def test_a_patch_of_a_row_that_waits_to_be_inserted_joins_it(owed: BufferedRows) -> None:
    owed.inserts[5] = {"text": "e"}
    owed.patch(5, {"text": "f", "size": 1})

    assert owed.inserts == {5: {"text": "f", "size": 1}}
    assert not owed.patches


def test_patches_of_one_row_are_one(owed: BufferedRows) -> None:
    owed.patch(1, {"text": "x", "size": 1})
    owed.patch(1, {"size": 2})

    assert owed.patches == {1: {"text": "x", "size": 2}}


def test_a_later_layer_is_taken_over(
    connection: duckdb.DuckDBPyConnection, owed: BufferedRows
) -> None:
    later = BufferedRows(owed.shape)
    owed.inserts[5] = {"text": "e"}
    later.patch(5, {"size": 1})
    later.patch(1, {"text": "x"})
    later.deletes.add(2)
    owed.absorb(later)

    owed.write(connection)

    assert rows(connection) == [(1, "x", 1), (5, "e", 1)]


def test_rows_with_different_columns_are_written_together(
    connection: duckdb.DuckDBPyConnection, owed: BufferedRows
) -> None:
    owed.inserts |= {5: {"text": "e"}, 6: {}, 7: {"size": 1}, 8: {"text": None, "size": None}}
    owed.patch(1, {"text": "x"})
    owed.patch(2, {"size": None})

    owed.write(connection)

    assert rows(connection) == [
        (1, "x", 1), (2, "b", None), (5, "e", 7), (6, None, 7), (7, None, 1), (8, None, None),
    ]  # fmt: skip


@pytest.mark.parametrize("verb", ["patch", "delete"])
def test_an_unknown_row_is_told_before_anything_is_written(
    connection: duckdb.DuckDBPyConnection, owed: BufferedRows, verb: str
) -> None:
    owed.inserts[5] = {"text": "e"}
    if verb == "patch":
        owed.patch(99, {"text": "x"})
    else:
        owed.deletes.add(99)

    with pytest.raises(RowConflictError) as conflict:
        owed.write(connection)

    assert (conflict.value.table, conflict.value.row) == ("notes", 99)
    assert isinstance(conflict.value.error, UnknownRowError)
    assert len(rows(connection)) == 2


def test_a_given_id_that_is_taken_is_told(
    connection: duckdb.DuckDBPyConnection, owed: BufferedRows
) -> None:
    owed.inserts[2] = {"text": "again"}
    owed.given.add(2)

    with pytest.raises(RowConflictError, match="it has a row 2 already") as conflict:
        owed.write(connection)

    assert isinstance(conflict.value.error, TableError)


def test_a_row_is_touched_by_whatever_is_owed_to_it(owed: BufferedRows) -> None:
    owed.inserts[5] = {}
    owed.patch(1, {"text": "x"})
    owed.deletes.add(2)

    assert [owed.touches(row) for row in (1, 2, 5, 9)] == [True, True, True, False]
