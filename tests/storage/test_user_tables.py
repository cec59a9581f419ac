"""Buffered verbs and SQL in one transaction: what is sent when, and what it costs."""

from collections.abc import Generator

import duckdb
import pytest

from rxferrix_lab.errors import TableError, UnknownRowError
from rxferrix_lab.storage.store import Store
from rxferrix_lab.storage.transaction import Transaction
from rxferrix_lab.storage.user_tables import UserTables


@pytest.fixture
def transaction() -> Generator[Transaction, None, None]:
    store = Store(":memory:")
    store.open()
    transaction = store.transaction()
    transaction.create_table("notes", "text VARCHAR")
    transaction.create_table("other", "text VARCHAR")
    transaction.enter()
    yield transaction
    transaction.rollback()
    store.close()


@pytest.fixture
def tables(transaction: Transaction) -> UserTables:
    return UserTables(transaction)


def owed(transaction: Transaction) -> set[str]:
    """The tables that something is held back for."""
    layers = (transaction.base, transaction.layer)
    return {name for layer in layers for name, rows in layer.rows.items() if not rows.is_empty}


def test_verbs_are_held_back(transaction: Transaction, tables: UserTables) -> None:
    row = tables.insert("notes", {"text": "a"})
    tables.patch("notes", row, {"text": "b"})
    tables.insert("other", {})

    assert owed(transaction) == {"notes", "other"}
    assert not transaction.layer.was_sent


def test_a_statement_sends_what_it_reads_and_no_more(
    transaction: Transaction, tables: UserTables
) -> None:
    tables.insert("notes", {"text": "a"})
    tables.insert("other", {})

    assert tables.sql("SELECT text FROM NOTES", {}).fetchall() == [("a",)]
    assert owed(transaction) == {"other"}
    assert transaction.layer.was_sent


@pytest.mark.parametrize(
    "query", ["SELECT * FROM v", "SELECT m()", "CREATE TABLE t AS SELECT 1 AS id"]
)
def test_a_statement_that_may_read_anything_sends_everything(
    transaction: Transaction, tables: UserTables, query: str
) -> None:
    tables.sql("CREATE VIEW v AS SELECT * FROM notes", {})
    tables.sql("CREATE MACRO m() AS (SELECT count(*) FROM notes)", {})
    tables.insert("notes", {"text": "a"})
    tables.insert("other", {})
    tables.sql(query, {})

    assert owed(transaction) == set()


def test_what_a_neighbour_owes_is_sent_without_being_this_ones(
    transaction: Transaction, tables: UserTables
) -> None:
    tables.insert("notes", {"text": "neighbour"})
    transaction.merge()
    transaction.enter()

    assert tables.sql("SELECT text FROM notes", {}).fetchall() == [("neighbour",)]
    assert transaction.drop()
    assert tables.sql("SELECT text FROM notes", {}).fetchall() == [("neighbour",)]


def test_a_row_that_waits_is_deleted_in_the_order_of_the_verbs(tables: UserTables) -> None:
    row = tables.insert("notes", {"text": "a"})
    tables.delete("notes", row)

    assert tables.get("notes", row) is None
    tables.delete("notes", row)
    with pytest.raises(UnknownRowError):
        tables.sql("SELECT * FROM notes", {})


def test_an_error_is_noted_so_that_it_cannot_be_swallowed(
    transaction: Transaction, tables: UserTables
) -> None:
    with pytest.raises(TableError):
        tables.insert("nowhere", {})

    assert isinstance(transaction.layer.broken, TableError)


def test_an_error_of_the_database_is_noted_too(
    transaction: Transaction, tables: UserTables
) -> None:
    with pytest.raises(duckdb.ConversionException) as error:
        tables.sql("SELECT 'x'::INTEGER", {})

    assert transaction.layer.broken is error.value


def test_verbs_go_to_the_database_one_by_one_where_they_write_through(
    transaction: Transaction, tables: UserTables
) -> None:
    transaction.layer.writes_through = True
    row = tables.insert("notes", {"text": "a"})
    tables.patch("notes", row, {"text": "b"})

    assert owed(transaction) == set()
    assert transaction.connection.execute("SELECT text FROM notes").fetchall() == [("b",)]


def test_parameters_are_filled_in_by_name(tables: UserTables) -> None:
    found = tables.sql("SELECT $a + $b AS total", {"a": 1, "b": 2})

    assert (found.columns, found.scalar()) == (["total"], 3)


def test_a_column_is_named_in_any_case(tables: UserTables) -> None:
    row = tables.insert("Notes", {"TEXT": "a", "ID": 7})

    assert tables.get("NOTES", row) == {"id": 7, "text": "a"}
