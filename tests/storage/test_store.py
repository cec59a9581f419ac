"""Opening, compacting and opening again, while others read."""

import threading
from collections.abc import Generator
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab.errors import NotRunningError, StoreUnavailableError
from rxferrix_lab.storage import store as stores
from rxferrix_lab.storage.compaction import compact_database
from rxferrix_lab.storage.store import Store

ENDLESS = "SELECT sum(a.i * b.i) FROM range(1000000) AS a(i), range(1000000) AS b(i)"


@pytest.fixture
def store(tmp_path: Path) -> Generator[Store, None, None]:
    made = Store(tmp_path / "app.duckdb")
    made.open()
    made.read(lambda writer: writer.execute("CREATE TABLE notes (text VARCHAR)"))
    made.read(lambda writer: writer.execute("INSERT INTO notes VALUES ('a')"))
    yield made
    made.close()


def log_of(store: Store) -> Path:
    return Path(f"{store.path}.wal")


def texts(store: Store) -> list[tuple[object, ...]]:
    with store.snapshot() as snapshot:
        return snapshot.sql("SELECT text FROM notes", {}).fetchall()


class TestCompaction:
    def test_it_keeps_every_row_and_leaves_no_log(self, store: Store) -> None:
        store.compact_above = 1

        assert store.compact() is True
        assert not log_of(store).exists()
        assert texts(store) == [("a",)]

    def test_a_small_log_is_left_alone(self, store: Store) -> None:
        assert store.compact() is False
        assert log_of(store).exists()

    def test_it_lets_whoever_reads_finish_and_waits_for_another_time(self, store: Store) -> None:
        store.compact_above = 1

        with store.snapshot() as snapshot:
            assert store.compact() is False
            assert snapshot.sql("SELECT text FROM notes", {}).fetchall() == [("a",)]

    def test_reads_that_come_meanwhile_wait_and_succeed(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found: list[list[tuple[object, ...]]] = []
        readers = [threading.Thread(target=lambda: found.append(texts(store))) for _ in range(3)]

        def compact_while_others_read(path: str | Path) -> None:
            for reader in readers:
                reader.start()
            compact_database(path)

        store.compact_above = 1
        monkeypatch.setattr(stores, "compact_database", compact_while_others_read)
        store.compact()
        for reader in readers:
            reader.join()

        assert found == [[("a",)]] * 3

    def test_without_room_for_the_copy_all_goes_on(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def no_room(path: object) -> None:
            raise StoreUnavailableError("no room")

        store.compact_above = 1
        monkeypatch.setattr(stores, "compact_database", no_room)

        with pytest.raises(StoreUnavailableError):
            store.compact()

        assert texts(store) == [("a",)]

    def test_a_database_in_memory_is_never_compacted(self) -> None:
        store = Store(":memory:")
        store.compact_above = 1
        store.open()

        assert store.compact() is False
        store.close()


class TestReopen:
    def test_reads_come_back(self, store: Store) -> None:
        store.reopen()

        assert texts(store) == [("a",)]

    def test_a_read_that_it_interrupts_is_made_again(self, store: Store) -> None:
        reading, reads = threading.Event(), list[int]()

        def look() -> list[tuple[object, ...]]:
            with store.snapshot() as snapshot:
                reads.append(1)
                if len(reads) == 1:
                    reading.set()
                    snapshot.sql(ENDLESS, {})
                return snapshot.sql("SELECT text FROM notes", {}).fetchall()

        found: list[list[tuple[object, ...]]] = []
        reader = threading.Thread(target=lambda: found.append(store.lasting(look)))
        reader.start()
        reading.wait(30)
        store.reopen()
        reader.join()

        assert found == [[("a",)]]
        assert len(reads) == 2

    def test_a_read_that_a_close_cuts_off_says_that_the_app_has_stopped(self, store: Store) -> None:
        reading, said = threading.Event(), list[str]()

        def look() -> None:
            with store.snapshot() as snapshot:
                reading.set()
                snapshot.sql(ENDLESS, {})

        def read() -> None:
            with pytest.raises(NotRunningError) as stopped:
                store.lasting(look)
            said.append(str(stopped.value))

        reader = threading.Thread(target=read)
        reader.start()
        reading.wait(30)
        store.close()
        reader.join()

        [text] = said
        assert text.startswith("the app has stopped")

    def test_a_read_that_fails_by_itself_is_not(self, store: Store) -> None:
        reads: list[int] = []

        def look() -> None:
            reads.append(1)
            with store.snapshot() as snapshot:
                snapshot.sql("SELECT * FROM nowhere", {})

        with pytest.raises(duckdb.CatalogException):
            store.lasting(look)
        assert len(reads) == 1

    def test_ids_go_on_where_they_were(self, store: Store) -> None:
        before = store.transaction()
        drawn = before.draw_job_id()
        before.rollback()

        store.reopen()

        after = store.transaction()
        assert after.draw_job_id() > drawn
        after.rollback()


def test_log_without_its_database_is_refused_and_kept(store: Store) -> None:
    store.close()
    log = log_of(store)
    assert log.stat().st_size
    Path(store.path).unlink()

    with pytest.raises(StoreUnavailableError, match="put the database back"):
        store.open()

    assert log.stat().st_size
