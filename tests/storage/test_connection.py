"""How a database is opened, and what its errors mean."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab.errors import DatabaseInUseError, StoreUnavailableError
from rxferrix_lab.storage.connection import OpenDatabase, is_fatal, is_transient, open_database

LONG_QUERY = (
    "SELECT count(*) FROM range(100000000) a, range(1000) b WHERE a.range % 7 = b.range % 9"
)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[OpenDatabase]:
    opened = open_database(tmp_path / "app.duckdb")
    opened.writer.execute("CREATE TABLE notes (id BIGINT)")
    yield opened
    opened.close()


def run_python(code: str, *arguments: object, **environment: str) -> str:
    child = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=True,
    )
    return child.stdout


@pytest.mark.parametrize(
    "sql",
    [
        "SET TimeZone = 'Europe/Paris'",
        "SET memory_limit = '100GB'",
        "SET enable_external_access = true",
        "SET allowed_directories = ['/']",
        "SET lock_configuration = false",
        "INSTALL httpfs",
        "ATTACH 'elsewhere.duckdb'",
        "SELECT * FROM read_text('/etc/hostname')",
    ],
)
def test_settings_and_the_world_outside_are_locked(database: OpenDatabase, sql: str) -> None:
    with pytest.raises(duckdb.Error):
        database.writer.execute(sql)


def test_settings_are_those_that_were_measured(database: OpenDatabase) -> None:
    names = ("threads", "checkpoint_threshold", "python_enable_replacements", "TimeZone")

    found = [
        database.writer.execute("SELECT current_setting($1)", [name]).fetchall()[0][0]
        for name in names
    ]

    assert found == [1, "244.1 MiB", False, "UTC"]


def test_memory_limit_is_set(tmp_path: Path) -> None:
    opened = open_database(tmp_path / "app.duckdb", memory_limit="512MiB")

    assert opened.writer.execute("SELECT current_setting('memory_limit')").fetchall() == [
        ("512.0 MiB",)
    ]
    opened.close()


def test_readers_see_utc_wherever_the_machine_is(tmp_path: Path) -> None:
    code = """
import sys
from rxferrix_lab.storage.connection import open_database
with open_database(sys.argv[1]).reader() as reader:
    print(reader.execute("SELECT current_setting('TimeZone')").fetchall()[0][0])
"""

    assert run_python(code, tmp_path / "app.duckdb", TZ="Europe/Paris") == "UTC\n"


def test_reader_refuses_to_write(database: OpenDatabase) -> None:
    with database.reader() as reader, pytest.raises(duckdb.Error, match="read-only"):
        reader.execute("INSERT INTO notes VALUES (1)")


def test_reader_sees_one_snapshot(database: OpenDatabase) -> None:
    with database.reader() as reader:
        before = reader.execute("SELECT count(*) FROM notes").fetchall()
        database.writer.execute("INSERT INTO notes VALUES (1)")
        after = reader.execute("SELECT count(*) FROM notes").fetchall()

    assert before == after == [(0,)]


def test_reader_is_closed_when_its_body_raises(database: OpenDatabase) -> None:
    kept: list[duckdb.DuckDBPyConnection] = []

    def read() -> None:
        with database.reader() as reader:
            kept.append(reader)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        read()

    with pytest.raises(duckdb.ConnectionException):
        kept[0].execute("SELECT 1")


def test_reader_that_takes_too_long_is_stopped(database: OpenDatabase) -> None:
    limit = timedelta(milliseconds=20)

    with (
        database.reader(max_execution=limit) as reader,
        pytest.raises(duckdb.InterruptException, match="maximum execution time"),
    ):
        reader.execute(LONG_QUERY)


def test_limit_of_a_reader_binds_nobody_else(database: OpenDatabase) -> None:
    setting = "SELECT current_setting('max_execution_time')"

    with database.reader(max_execution=timedelta(seconds=1)) as limited, database.reader() as free:
        assert limited.execute(setting).fetchall() == [(1000,)]
        assert free.execute(setting).fetchall() == [(0,)]
    assert database.writer.execute(setting).fetchall() == [(0,)]


def test_interrupt_stops_a_reader(database: OpenDatabase) -> None:
    outcome: list[str] = []
    begun = threading.Event()

    def read() -> None:
        with database.reader() as reader:
            begun.set()
            try:
                reader.execute(LONG_QUERY)
            except duckdb.InterruptException:
                outcome.append("interrupted")

    thread = threading.Thread(target=read)
    thread.start()
    begun.wait()
    while thread.is_alive():
        database.interrupt()
        thread.join(0.01)

    assert outcome == ["interrupted"]


def test_closed_database_says_so(database: OpenDatabase) -> None:
    database.close()
    database.close()

    with pytest.raises(StoreUnavailableError, match="closed"):
        _ = database.writer
    with pytest.raises(StoreUnavailableError, match="closed"), database.reader():
        pass


def test_close_waits_for_readers_of_other_threads_to_stop(database: OpenDatabase) -> None:
    outcomes: list[bool] = []
    begun = threading.Barrier(4)

    def read_on_and_on() -> None:
        with database.reader() as reader:
            begun.wait()
            try:
                while reader.execute("SELECT count(*) FROM range(1000000)").fetchall():
                    pass
            except duckdb.Error:
                outcomes.append(True)

    threads = [threading.Thread(target=read_on_and_on) for _ in range(3)]
    for thread in threads:
        thread.start()
    begun.wait()

    database.close()

    for thread in threads:
        thread.join()
    assert outcomes == [True, True, True]


def test_reader_with_a_result_half_read_is_closed(database: OpenDatabase) -> None:
    with database.reader() as reader:
        reader.execute("SELECT * FROM range(1000000)").fetchone()

    with pytest.raises(duckdb.ConnectionException):
        reader.execute("SELECT 1")


def test_close_leaves_the_log_unchecked(database: OpenDatabase, tmp_path: Path) -> None:
    database.writer.execute("INSERT INTO notes VALUES (1)")

    database.close()

    assert (tmp_path / "app.duckdb.wal").stat().st_size > 0


def test_reopened_database_holds_what_was_committed(database: OpenDatabase, tmp_path: Path) -> None:
    database.writer.execute("INSERT INTO notes VALUES (7)")
    database.close()

    again = open_database(tmp_path / "app.duckdb")

    assert again.writer.execute("SELECT id FROM notes").fetchall() == [(7,)]
    again.close()


def test_databases_in_memory_are_separate() -> None:
    first, second = open_database(":memory:"), open_database(":memory:")
    first.writer.execute("CREATE TABLE notes (id BIGINT)")

    with pytest.raises(duckdb.CatalogException):
        second.writer.execute("SELECT * FROM notes")
    assert first.path is None
    first.close()
    second.close()


def test_file_that_is_no_database_is_named(tmp_path: Path) -> None:
    path = tmp_path / "app.duckdb"
    path.write_text("a letter to a friend\n" * 1000)

    with pytest.raises(StoreUnavailableError, match=r"app\.duckdb.*not a DuckDB database"):
        open_database(path)


def test_damaged_file_is_named(database: OpenDatabase, tmp_path: Path) -> None:
    path = tmp_path / "app.duckdb"
    database.close()
    data = bytearray(path.read_bytes())
    data[4200:4300] = bytes(100)
    data[8300:8400] = bytes(range(100))
    path.write_bytes(data)

    with pytest.raises(StoreUnavailableError, match=r"app\.duckdb.*damaged.*backup"):
        open_database(path)


def test_damaged_log_is_named(database: OpenDatabase, tmp_path: Path) -> None:
    log = tmp_path / "app.duckdb.wal"
    database.writer.execute("INSERT INTO notes FROM range(1000)")
    database.close()
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 0xFF
    log.write_bytes(data)

    with pytest.raises(StoreUnavailableError, match=r"app\.duckdb\.wal is damaged"):
        open_database(tmp_path / "app.duckdb")


def test_file_that_another_program_has_open_is_in_use(tmp_path: Path) -> None:
    code = """
import duckdb, sys
connection = duckdb.connect(sys.argv[1])
print("open", flush=True)
sys.stdin.read()
"""
    path = tmp_path / "app.duckdb"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()

        with pytest.raises(DatabaseInUseError, match=f"process {child.pid}"):
            open_database(path)
        child.communicate()


def test_file_that_this_process_has_open_elsewhere_is_in_use(tmp_path: Path) -> None:
    path = tmp_path / "app.duckdb"

    with (
        duckdb.connect(str(path)),
        pytest.raises(DatabaseInUseError, match=r"duckdb\.connect"),
    ):
        open_database(path)


FULL_DISK = """
import os, resource, signal, sys
from pathlib import Path
from rxferrix_lab.storage.connection import is_fatal, is_transient, open_database

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
path = Path(sys.argv[1])
log = Path(str(path) + ".wal")

def limit(size):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

def attempt(connection, sql):
    try:
        connection.execute(sql)
    except Exception as error:
        return "fatal" if is_fatal(error) else "transient" if is_transient(error) else str(error)
    return "done"

database = open_database(path)
database.writer.execute("CREATE TABLE notes (text VARCHAR)")
database.writer.execute("INSERT INTO notes VALUES ('kept')")
"""


def test_full_disk_at_a_commit_is_transient_and_leaves_the_instance_usable(tmp_path: Path) -> None:
    code = (
        FULL_DISK
        + """
limit(log.stat().st_size + 50)
print(attempt(database.writer, "INSERT INTO notes VALUES (repeat('x', 1000))"))
limit(resource.RLIM_INFINITY)
print(attempt(database.writer, "INSERT INTO notes VALUES ('later')"))
database.close()
print(open_database(path).writer.execute("SELECT text FROM notes").fetchall())
"""
    )

    assert run_python(code, tmp_path / "app.duckdb").splitlines() == [
        "transient",
        "done",
        "[('kept',), ('later',)]",
    ]


def test_full_disk_at_a_checkpoint_is_fatal_and_a_reopen_in_process_loses_nothing(
    tmp_path: Path,
) -> None:
    code = (
        FULL_DISK
        + """
with database.reader() as reader:
    reader.execute("SELECT 1").fetchall()
    limit(path.stat().st_size)
    print(attempt(database.writer, "CHECKPOINT"))
    print(attempt(database.writer, "SELECT 1"), attempt(reader, "SELECT 1"))
    limit(resource.RLIM_INFINITY)
    database.close()
    again = open_database(path)
print(attempt(again.writer, "INSERT INTO notes VALUES ('later')"))
print(again.writer.execute("SELECT text FROM notes").fetchall())
"""
    )

    assert run_python(code, tmp_path / "app.duckdb").splitlines() == [
        "fatal",
        "fatal fatal",
        "done",
        "[('kept',), ('later',)]",
    ]


@pytest.mark.parametrize(
    "error",
    [
        duckdb.CatalogException("Table with name a does not exist"),
        duckdb.ConstraintException("Duplicate key"),
        duckdb.InterruptException("Interrupted"),
        ValueError("database has been invalidated"),
    ],
)
def test_an_error_of_the_statement_is_neither_fatal_nor_transient(error: Exception) -> None:
    assert not is_fatal(error)
    assert not is_transient(error)


def test_internal_errors_are_fatal() -> None:
    assert is_fatal(duckdb.InternalException("assertion"))
    assert is_fatal(duckdb.FatalException("checkpoint"))
    assert is_fatal(duckdb.Error("database has been invalidated because of a previous error"))


def test_memory_that_ran_out_is_transient() -> None:
    assert is_transient(duckdb.OutOfMemoryException("could not allocate"))
