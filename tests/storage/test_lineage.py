"""Views and macros are followed to their tables."""

from collections.abc import Iterator

import duckdb
import pytest

from rxferrix_lab.storage.statements import table_names


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


def test_view_is_followed_to_its_tables(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE notes (id BIGINT); CREATE TABLE unrelated (id BIGINT)")
    connection.execute("CREATE TABLE _scheduled_jobs (id BIGINT)")
    connection.execute("CREATE VIEW a AS SELECT * FROM notes, _scheduled_jobs")
    connection.execute("CREATE VIEW b AS SELECT 1 FROM a")

    assert table_names("SELECT * FROM B", connection) == {"notes", "_scheduled_jobs"}


def test_macro_is_followed_to_its_tables(connection: duckdb.DuckDBPyConnection) -> None:
    connection.execute("CREATE TABLE notes (id BIGINT); CREATE TABLE tags (id BIGINT)")
    connection.execute("CREATE MACRO newest() AS (SELECT max(id) FROM notes)")
    connection.execute("CREATE MACRO tagged() AS TABLE SELECT newest(), id FROM tags")

    assert table_names("SELECT newest()", connection) == {"notes"}
    assert table_names("SELECT * FROM tagged()", connection) == {"notes", "tags"}


def test_a_name_that_is_no_table_is_not_among_the_tables(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.execute("CREATE TABLE notes (id BIGINT, text VARCHAR)")

    names = table_names("WITH r AS (FROM notes) SELECT id, text FROM r", connection)

    assert names == {"notes"}
