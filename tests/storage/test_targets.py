"""What a statement writes is found wherever it stands."""

from collections.abc import Iterator

import duckdb
import pytest

from rxferrix_lab.errors import ReservedTableError
from rxferrix_lab.storage.statements import inspect

RESERVED = [
    "INSERT INTO _crons VALUES (1)",
    'INSERT INTO "_crons" VALUES (1)',
    "INSERT INTO main._crons VALUES (1)",
    'INSERT INTO memory.main."_Crons" VALUES (1)',
    "insert into _CRONS select 1",
    "INSERT OR REPLACE INTO _crons VALUES (1)",
    "INSERT OR IGNORE INTO _crons VALUES (1)",
    "INSERT INTO _crons BY NAME SELECT 1 AS id",
    "INSERT/* a */INTO/* b */_crons/* c */VALUES (1)",
    "INSERT -- a\n INTO -- b\n _crons VALUES (1)",
    "INSERT INTO other._x VALUES (1)",
    "WITH a AS (SELECT 1) INSERT INTO _crons SELECT * FROM a",
    "WITH a AS (INSERT INTO _crons VALUES (1) RETURNING *) SELECT * FROM a",
    "WITH a AS (UPDATE _crons SET paused = true RETURNING *) SELECT * FROM a",
    "WITH a AS (DELETE FROM _crons RETURNING *) SELECT * FROM a",
    "WITH a AS MATERIALIZED (DELETE FROM main._crons) SELECT 1",
    "WITH a AS (WITH b AS (SELECT 1) DELETE FROM _crons RETURNING *) SELECT * FROM a",
    "WITH a AS (TRUNCATE _crons) SELECT 1",
    "INSERT INTO notes WITH a AS (DELETE FROM _crons RETURNING *) SELECT * FROM a",
    "CREATE TABLE t AS WITH a AS (DELETE FROM _crons RETURNING *) SELECT * FROM a",
    "UPDATE _crons SET paused = true",
    'UPDATE main . "_crons" SET paused = true',
    "WITH a AS (SELECT 1) UPDATE _crons SET paused = true",
    "UPDATE _crons AS c SET paused = true FROM notes",
    "DELETE FROM _crons",
    "DELETE\nFROM\n\tmain._crons WHERE true",
    "DELETE FROM _scheduled_jobs USING notes WHERE true",
    "WITH a AS (SELECT 1) DELETE FROM _crons",
    "TRUNCATE _crons",
    "TRUNCATE TABLE main._crons",
    "MERGE INTO _crons USING notes ON true WHEN MATCHED THEN DELETE",
    "WITH a AS (SELECT 1) MERGE INTO _crons USING a ON true WHEN MATCHED THEN UPDATE SET x = 1",
    "EXPLAIN ANALYZE DELETE FROM _crons",
    "EXPLAIN DELETE FROM _crons",
    "EXPLAIN (ANALYZE, FORMAT json) DELETE FROM _crons",
    "EXPLAIN (FORMAT json) UPDATE _crons SET a = 1",
    "CREATE TABLE _mine (id INTEGER)",
    "CREATE TABLE IF NOT EXISTS _mine (id INTEGER)",
    "CREATE OR REPLACE TABLE _crons (id INTEGER)",
    "CREATE TABLE temp._crons (id INTEGER)",
    "CREATE TABLE _mine AS SELECT 1",
    "CREATE VIEW _mine AS SELECT 1",
    "CREATE MACRO _mine(a) AS a + 1",
    "CREATE FUNCTION _mine(a) AS TABLE SELECT a",
    "CREATE INDEX _mine ON notes (id)",
    "CREATE INDEX mine ON _scheduled_jobs (id)",
    "CREATE INDEX CONCURRENTLY mine ON _scheduled_jobs (id)",
    "INSERT INTO '_crons' VALUES (1)",
    "CREATE VIEW main.'_mine' AS SELECT 1",
    "UPDATE notes SET a = (WITH q AS (DELETE FROM _crons RETURNING a) FROM q)",
    'CREATE UNIQUE INDEX IF NOT EXISTS mine ON main."_scheduled_jobs" (id)',
    "CREATE SEQUENCE _mine",
    "CREATE TYPE _mine AS ENUM ('a')",
    "CREATE SCHEMA _mine",
    "CREATE TABLE a (job BIGINT REFERENCES _scheduled_jobs (id))",
    "CREATE TABLE a (job BIGINT, FOREIGN KEY (job) REFERENCES _scheduled_jobs (id))",
    'CREATE TABLE a (job BIGINT REFERENCES main."_scheduled_jobs")',
    "ALTER TABLE a ADD FOREIGN KEY (job) REFERENCES _scheduled_jobs (id)",
    "ALTER TABLE _crons ADD COLUMN a INTEGER",
    "ALTER TABLE IF EXISTS _crons DROP COLUMN paused",
    "ALTER TABLE notes RENAME TO _notes",
    'ALTER TABLE notes RENAME TO "_notes"',
    "ALTER VIEW v RENAME TO _v",
    "ALTER SEQUENCE s OWNED BY _scheduled_jobs",
    "DROP TABLE _crons",
    "DROP TABLE IF EXISTS memory.main._crons CASCADE",
    "DROP VIEW IF EXISTS _crons",
    "DROP INDEX _mine",
    "WITH _a AS (SELECT 1) SELECT * FROM _a",
    "WITH a AS (SELECT 1), _crons AS (SELECT 2) SELECT * FROM _crons",
    "WITH RECURSIVE _a(n) AS (SELECT 1) SELECT * FROM _a",
]


@pytest.fixture(scope="module")
def parser() -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection that no test writes to."""
    with duckdb.connect(config={"threads": 1}) as connection:
        yield connection


@pytest.mark.parametrize("sql", RESERVED)
def test_a_name_of_the_scheduler_is_refused_as_a_target(
    sql: str, parser: duckdb.DuckDBPyConnection
) -> None:
    with pytest.raises(ReservedTableError):
        inspect(sql, parser)
