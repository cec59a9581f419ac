"""The store: transactions land as a whole, or not at all, and ids outlive it."""

from collections.abc import Generator
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab.errors import (
    DatabaseInUseError,
    NotRunningError,
    TableError,
    UnknownRowError,
)
from rxferrix_lab.storage.buffered_rows import RowConflictError
from rxferrix_lab.storage.store import Store
from rxferrix_lab.storage.user_tables import UserTables


@pytest.fixture
def store(tmp_path: Path) -> Generator[Store, None, None]:
    store = Store(tmp_path / "a.duckdb")
    store.open()
    transaction = store.transaction()
    transaction.create_table("Notes", "text VARCHAR")
    transaction.finish()
    yield store
    store.close()


def insert(store: Store, text: str = "a") -> int:
    """Insert one row in a transaction of its own."""
    transaction = store.transaction()
    transaction.enter()
    row = UserTables(transaction).insert("notes", {"text": text})
    transaction.merge()
    transaction.finish()
    return row


def texts(store: Store) -> list[str]:
    with store.snapshot() as snapshot:
        rows = snapshot.sql("SELECT text FROM notes ORDER BY id", {}).fetchall()
    return [text for (text,) in rows]


def test_a_finished_transaction_says_which_tables_it_changed(store: Store) -> None:
    transaction = store.transaction()
    transaction.enter()
    tables = UserTables(transaction)
    tables.insert("NOTES", {"text": "a"})
    tables.sql("CREATE TABLE Other (id BIGINT)", {})
    transaction.merge()

    assert transaction.finish() >= {"notes", "other"}


def test_a_dropped_layer_leaves_nothing_where_it_sent_nothing(store: Store) -> None:
    transaction = store.transaction()
    transaction.enter()
    UserTables(transaction).insert("notes", {"text": "bad"})
    assert transaction.drop()
    transaction.enter()
    UserTables(transaction).insert("notes", {"text": "good"})
    transaction.merge()
    transaction.finish()

    assert texts(store) == ["good"]


def test_a_layer_that_reached_the_database_cannot_be_dropped_alone(store: Store) -> None:
    transaction = store.transaction()
    transaction.enter()
    UserTables(transaction).sql("INSERT INTO notes VALUES (7, 'sent')", {})

    assert not transaction.drop()
    transaction.rollback()
    assert texts(store) == []


def test_a_layer_with_a_database_error_cannot_be_dropped_alone(store: Store) -> None:
    transaction = store.transaction()
    transaction.enter()
    with pytest.raises(duckdb.Error):
        UserTables(transaction).sql("SELECT * FROM nowhere", {})

    assert not transaction.drop()
    transaction.rollback()


def test_a_row_that_does_not_fit_commits_nothing(store: Store) -> None:
    transaction = store.transaction()
    transaction.enter()
    tables = UserTables(transaction)
    tables.insert("notes", {"text": "lost"})
    tables.patch("notes", 99, {"text": "x"})
    transaction.merge()
    with pytest.raises(RowConflictError) as conflict:
        transaction.finish()
    transaction.rollback()

    assert isinstance(conflict.value.error, UnknownRowError)
    assert texts(store) == []


def test_a_layer_that_writes_through_meets_its_errors_at_once(store: Store) -> None:
    transaction = store.transaction()
    transaction.enter()
    transaction.layer.writes_through = True

    with pytest.raises(UnknownRowError):
        UserTables(transaction).patch("notes", 99, {"text": "x"})
    transaction.rollback()


def test_a_snapshot_does_not_see_what_was_committed_after_it(store: Store) -> None:
    with store.snapshot() as snapshot:
        before = snapshot.sql("SELECT count(*) FROM notes", {}).scalar()
        insert(store)

        assert snapshot.sql("SELECT count(*) FROM notes", {}).scalar() == before == 0


def test_a_table_that_is_there_is_left_as_it_is(store: Store) -> None:
    insert(store)
    transaction = store.transaction()
    transaction.create_table("NOTES", "something ELSE")
    transaction.rollback()

    assert texts(store) == ["a"]


def test_a_table_that_cannot_be_made_is_told(store: Store) -> None:
    transaction = store.transaction()
    with pytest.raises(TableError, match='table "words": it cannot be made'):
        transaction.create_table("words", "text NOTHING")
    transaction.rollback()


def test_ids_go_on_after_the_store_is_opened_again(store: Store) -> None:
    first = insert(store)
    store.reopen()
    second = insert(store)
    store.close()
    store.open()

    assert first < second < insert(store)


def test_an_id_of_a_rolled_back_transaction_is_not_drawn_again(store: Store) -> None:
    transaction = store.transaction()
    transaction.enter()
    lost = UserTables(transaction).insert("notes", {"text": "lost"})
    transaction.rollback()

    assert insert(store) > lost


def test_a_second_store_on_the_file_is_refused(store: Store) -> None:
    with pytest.raises(DatabaseInUseError, match="another app of this process"):
        Store(store.path).open()


def test_a_closed_store_gives_neither_transactions_nor_snapshots(store: Store) -> None:
    store.close()

    with pytest.raises(NotRunningError):
        store.transaction()
    with pytest.raises(NotRunningError), store.snapshot():
        pass


def test_a_store_in_memory_is_empty_each_time() -> None:
    store = Store(":memory:")
    store.open()
    assert store.is_in_memory
    store.close()
    store.open()

    with store.snapshot() as snapshot:
        assert snapshot.sql("SELECT count(*) FROM _scheduled_jobs", {}).scalar() == 0
    store.close()
