"""Schemas go forward, and a newer one is left alone."""

from pathlib import Path

import duckdb
import pytest

from rxferrix_lab.errors import StoreUnavailableError
from rxferrix_lab.storage import migrate as migrations
from rxferrix_lab.storage.migrate import CURRENT_VERSION, migrate, schema_version


@pytest.fixture
def connection() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(":memory:")


def test_an_empty_database_is_brought_to_the_current_version(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    migrate(connection, "app.duckdb")

    assert schema_version(connection) == CURRENT_VERSION


def test_a_current_one_is_left_as_it_is(connection: duckdb.DuckDBPyConnection) -> None:
    migrate(connection, "app.duckdb")
    connection.execute("INSERT INTO _id_blocks (table_name, reserved) VALUES ('notes', 7)")

    migrate(connection, "app.duckdb")

    assert connection.execute("SELECT * FROM _id_blocks").fetchall() == [("notes", 7)]


def test_a_newer_one_is_refused_and_untouched(connection: duckdb.DuckDBPyConnection) -> None:
    migrate(connection, "app.duckdb")
    connection.execute("UPDATE _meta SET value = '99' WHERE key = 'schema_version'")

    with pytest.raises(StoreUnavailableError, match="newer rxferrix_lab"):
        migrate(connection, "app.duckdb")

    assert schema_version(connection) == 99


def test_a_foreign_database_with_our_names_is_refused(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.execute("CREATE TABLE _crons (name VARCHAR)")

    with pytest.raises(StoreUnavailableError, match="not a database of this package"):
        migrate(connection, "app.duckdb")


def test_the_users_tables_are_no_hindrance(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE notes (id BIGINT)")

    migrate(connection, "app.duckdb")

    assert schema_version(connection) == CURRENT_VERSION


def test_a_step_that_fails_leaves_the_version_before_it(
    connection: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "broken.sql").write_text("CREATE TABLE half (id BIGINT); SELECT * FROM nowhere;")
    migrate(connection, "app.duckdb")
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, "broken.sql"))
    monkeypatch.setattr(migrations, "CURRENT_VERSION", CURRENT_VERSION + 1)
    monkeypatch.setattr(migrations, "files", {"rxferrix_lab.storage": tmp_path}.__getitem__)

    with pytest.raises(duckdb.CatalogException):
        migrate(connection, "app.duckdb")

    assert schema_version(connection) == CURRENT_VERSION
    found = connection.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'half'")
    assert found.fetchall() == [(0,)]
