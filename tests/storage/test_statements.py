"""What user SQL may say, and what is found in it."""

from collections.abc import Iterator

import duckdb
import pytest

from rxferrix_lab.errors import ForbiddenStatementError, ReservedTableError
from rxferrix_lab.storage.statements import inspect, inspect_query

READS = [
    "SELECT 1",
    "SELECT 1;",
    "SELECT * FROM notes WHERE reader = $user",
    "SELECT * FROM notes WHERE id = ?",
    "FROM notes",
    "FROM notes SELECT text WHERE id > 3",
    "VALUES (1), (2)",
    "TABLE notes",
    "(SELECT 1) UNION ALL (SELECT 2)",
    "WITH a AS (SELECT 1), b AS MATERIALIZED (SELECT 2) SELECT * FROM a, b",
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 9) FROM r",
    "SELECT * FROM _scheduled_jobs WHERE state = 'pending'",
    'SELECT * FROM main."_crons" AS _c',
    "SELECT _x FROM (SELECT 1 AS _x) AS _y",
    'SELECT a AS _b, c AS "x.csv" FROM t',
    "SELECT list_transform([1, 2], lambda x: x + 1)",
    "SELECT [x + 1 FOR x IN [1, 2] IF x > 1]",
    "SELECT {'a': 1, 'b': 'x.csv'}",
    "SELECT 'report.csv' AS name, count(*) FROM notes",
    "SELECT coalesce(name, 'x.csv') FROM notes",
    "SELECT t.json FROM t",
    "SELECT a, t.csv, (t.json) FROM t",
    "SELECT * FROM notes WHERE name IN ('a.csv', 'b.parquet')",
    "SELECT row_number() OVER w FROM notes WINDOW w AS (ORDER BY id), _v AS (ORDER BY text)",
    "SELECT extract(year FROM made), trim(BOTH 'x' FROM name) FROM notes",
    "SELECT * FROM range(10) AS t(i)",
    "SELECT unnest([1, 2]), generate_series(1, 3)",
    "SELECT * FROM json_each('{\"a\": 1}')",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM information_schema.tables",
    "SELECT my_macro(1), main.other_macro(2)",
    'SELECT delete, "update" FROM notes',
    "SELECT * FROM notes WHERE text LIKE '%INSERT INTO _crons%' -- DELETE FROM _crons",
    "PIVOT notes ON reader USING count(*)",
    "SELECT * FROM (PIVOT notes ON reader IN ('a', 'b') USING count(*))",
    "UNPIVOT notes ON a, b INTO NAME name VALUE value",
    "DESCRIBE notes",
    "SUMMARIZE notes",
    "SHOW TABLES",
    "EXPLAIN SELECT * FROM notes",
    "EXPLAIN ANALYZE SELECT * FROM notes",
    "EXPLAIN (FORMAT json) SELECT 1",
    "SELECT Größe FROM Straße",
    "SELECT \"a\u00a0b\", '\u00a0' FROM notes",
    "SELECT * FROM notes /* /* nested */ comment */ WHERE true",
    "SELECT $$ DELETE FROM _crons $$",
]

WRITES = [
    ("INSERT INTO notes VALUES (1, 'x')", {"notes"}),
    ("INSERT INTO notes (id, file) VALUES (1, 'report.csv')", {"notes"}),
    ("INSERT INTO notes (id) SELECT 1, 'report.csv' FROM other, another", {"notes"}),
    ("INSERT OR REPLACE INTO notes VALUES (1)", {"notes"}),
    ("INSERT INTO main.Notes SELECT * FROM _scheduled_jobs", {"notes"}),
    ("INSERT INTO notes VALUES (1) ON CONFLICT DO UPDATE SET text = 'x'", {"notes"}),
    ("INSERT INTO notes VALUES (nextval('s')) RETURNING id", {"notes"}),
    ("INSERT INTO notes (_hidden) VALUES (1)", {"notes"}),
    ("UPDATE notes SET text = 'a.csv' WHERE id = $id", {"notes"}),
    ("UPDATE notes SET _hidden = 1 FROM _crons WHERE true", {"notes"}),
    ("DELETE FROM notes USING _scheduled_jobs AS _j WHERE notes.id = _j.id", {"notes"}),
    ("TRUNCATE notes", {"notes"}),
    ("MERGE INTO notes USING new ON notes.id = new.id WHEN MATCHED THEN UPDATE", {"notes"}),
    ("WITH a AS (SELECT 1) DELETE FROM notes WHERE id IN (FROM a)", {"notes"}),
    ("WITH a AS (INSERT INTO log VALUES (1) RETURNING *) DELETE FROM notes", {"log", "notes"}),
    ("WITH a AS (DELETE FROM notes RETURNING *) SELECT * FROM a", {"notes"}),
    ("SELECT nextval('s')", set[str]()),
    ("EXPLAIN ANALYZE DELETE FROM notes", {"notes"}),
    ("EXPLAIN DELETE FROM notes", set[str]()),
]

DEFINITIONS = [
    "CREATE TABLE notes (id BIGINT, text VARCHAR DEFAULT 'x.csv', _hidden INTEGER)",
    "CREATE TABLE IF NOT EXISTS other.notes (id BIGINT PRIMARY KEY)",
    "CREATE TABLE child (parent BIGINT REFERENCES notes (id))",
    "CREATE OR REPLACE TABLE notes AS FROM _scheduled_jobs",
    "CREATE VIEW v AS SELECT * FROM _scheduled_jobs",
    "CREATE VIEW v AS SELECT 'x.csv' AS name FROM notes",
    "CREATE OR REPLACE VIEW v AS SELECT 1",
    "CREATE MACRO plus(a, b := 2) AS a + b",
    "CREATE FUNCTION jobs() AS TABLE SELECT * FROM _scheduled_jobs",
    "CREATE UNIQUE INDEX by_text ON notes (text)",
    "CREATE SEQUENCE s START 10",
    "CREATE TYPE mood AS ENUM ('sad', 'a.csv')",
    "CREATE SCHEMA other",
    "CREATE SCHEMA IF NOT EXISTS main",
    "ALTER TABLE notes ADD COLUMN _a INTEGER",
    "ALTER TABLE notes RENAME text TO _text",
    "ALTER TABLE notes RENAME TO old_notes",
    "ALTER VIEW v RENAME TO w",
    "DROP TABLE IF EXISTS notes CASCADE",
    "DROP VIEW v",
    "DROP MACRO TABLE jobs",
    "DROP SEQUENCE s",
    "DROP SCHEMA other CASCADE",
]


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


@pytest.fixture(scope="module")
def parser() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that no test writes to."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


@pytest.mark.parametrize("sql", READS)
def test_a_read_is_accepted_in_a_query(sql: str, parser: duckdb.DuckDBPyConnection) -> None:
    statement = inspect_query(sql, parser)

    assert statement.kind == "read"
    assert statement.writes == frozenset()


@pytest.mark.parametrize(("sql", "writes"), WRITES)
def test_a_write_names_what_it_writes(
    sql: str, writes: set[str], parser: duckdb.DuckDBPyConnection
) -> None:
    statement = inspect(sql, parser)

    assert statement.kind == "write"
    assert statement.writes == writes


@pytest.mark.parametrize("sql", DEFINITIONS)
def test_a_definition_is_accepted_in_a_mutation(
    sql: str, parser: duckdb.DuckDBPyConnection
) -> None:
    assert inspect(sql, parser).kind == "ddl"


@pytest.mark.parametrize("sql", [sql for sql, _ in WRITES] + DEFINITIONS)
def test_a_query_refuses_all_that_writes(sql: str, parser: duckdb.DuckDBPyConnection) -> None:
    with pytest.raises(ForbiddenStatementError, match="query may only read"):
        inspect_query(sql, parser)


def test_text_that_is_no_sql_raises_the_error_of_the_parser(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    with pytest.raises(duckdb.ParserException):
        inspect("SELEC 1", connection)


def test_a_refused_statement_leaves_the_transaction_usable(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    connection.execute("CREATE TABLE notes (id BIGINT)")
    connection.execute("BEGIN")

    for sql in ("SELEC", "DELETE FROM _crons", "COMMIT", "SELECT * FROM notes, 'x.csv'"):
        with pytest.raises((duckdb.ParserException, ForbiddenStatementError, ReservedTableError)):
            inspect(sql, connection)

    connection.execute("INSERT INTO notes VALUES (1)")
    connection.execute("COMMIT")
    assert connection.execute("SELECT count(*) FROM notes").fetchall() == [(1,)]


def test_parameters_are_named_without_the_dollar(connection: duckdb.DuckDBPyConnection) -> None:
    statement = inspect("SELECT * FROM notes WHERE a = $a AND b = $b", connection)

    assert statement.params == {"a", "b"}


def test_reads_hold_every_table_of_the_statement(connection: duckdb.DuckDBPyConnection) -> None:
    sql = (
        "WITH r AS (SELECT * FROM main.A) SELECT * FROM r, b JOIN c USING (id) "
        "WHERE id IN (TABLE d) AND EXISTS (FROM alias : e)"
    )

    reads = inspect(sql, connection).reads

    assert reads is not None
    assert reads >= {"a", "b", "c", "d", "e"}


@pytest.mark.parametrize("sql", [sql for sql in READS if "$" not in sql and "macro" not in sql])
def test_reads_hold_every_table_that_the_tree_of_the_parser_holds(
    sql: str, parser: duckdb.DuckDBPyConnection
) -> None:
    query = (
        "SELECT lower(unnest(json_extract_string("
        "json_serialize_sql($1::VARCHAR), '$..table_name')))"
    )
    found = {name for (name,) in parser.execute(query, [sql]).fetchall()} - {"", '"tables"'}

    reads = inspect(sql, parser).reads

    assert reads is None or reads >= found


def test_reads_are_unknown_where_a_macro_may_be_called(
    connection: duckdb.DuckDBPyConnection,
) -> None:
    assert inspect("SELECT * FROM mine(1)", connection).reads is None
    assert inspect("SELECT lower(text) FROM notes", connection).reads == frozenset(
        {"notes", "text"}
    )


def test_the_same_text_is_inspected_once(connection: duckdb.DuckDBPyConnection) -> None:
    sql = "SELECT 'inspected once'"

    assert inspect(sql, connection) is inspect(sql, connection)


def test_many_texts_do_not_pile_up_in_the_cache(connection: duckdb.DuckDBPyConnection) -> None:
    first = inspect("SELECT 'first of many'", connection)

    for number in range(2_100):
        inspect(f"SELECT {number}", connection)

    assert inspect("SELECT 'first of many'", connection) is not first
