"""Compaction loses nothing, whenever it is killed; backups are whole and stay where they may be."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab.errors import StoreUnavailableError
from rxferrix_lab.storage.compaction import (
    backup,
    compact_database,
    needs_compaction,
    recover_compaction,
)
from rxferrix_lab.storage.connection import OpenDatabase, open_database

SCHEMA = """
    CREATE SCHEMA other;
    CREATE TYPE mood AS ENUM ('sad', 'ok');
    CREATE TYPE other.money AS DECIMAL(18, 3);
    CREATE SEQUENCE ids START 10;
    CREATE TABLE parent (id BIGINT PRIMARY KEY, mood mood DEFAULT 'ok', price other.money);
    CREATE TABLE child (
        id BIGINT DEFAULT nextval('ids'), parent BIGINT REFERENCES parent (id), CHECK (id > 0),
        name VARCHAR COLLATE nocase NOT NULL UNIQUE, n INTEGER DEFAULT 42,
        next INTEGER GENERATED ALWAYS AS (n + 1)
    );
    CREATE TABLE a_first (parent BIGINT REFERENCES parent (id));
    CREATE TABLE other.values (l INTEGER[], s STRUCT(a INTEGER), m MAP(VARCHAR, INTEGER), j JSON,
        u UNION(i INTEGER, s VARCHAR), b BLOB, t TIMESTAMPTZ DEFAULT current_timestamp);
    CREATE TABLE "odd ""b"" name" (a INTEGER, "b c" INTEGER DEFAULT 3);
    CREATE TABLE _scheduled_jobs (id BIGINT NOT NULL, due_at TIMESTAMPTZ);
    CREATE MACRO plus(a) AS a + 1, (a, b) AS a + b;
    CREATE MACRO later(k) AS TABLE SELECT id FROM child WHERE id > k;
    CREATE VIEW z_base AS SELECT id, plus(id) AS next FROM child;
    CREATE VIEW a_view AS SELECT * FROM z_base;
    CREATE VIEW other.jobs AS SELECT id FROM main._scheduled_jobs;
    CREATE VIEW by_macro AS SELECT * FROM later(0);
    CREATE TABLE made (a INTEGER, b INTEGER GENERATED ALWAYS AS (plus(a)));
    INSERT INTO made VALUES (1);
    CREATE TABLE gone (a INTEGER);
    CREATE VIEW on_gone AS SELECT * FROM gone;
    DROP TABLE gone;
    CREATE INDEX by_name ON child (name);
    CREATE UNIQUE INDEX by_price ON parent (price);
    COMMENT ON TABLE child IS 'a comment';
    COMMENT ON COLUMN child.name IS 'another';
    INSERT INTO parent VALUES (1, 'sad', 1.5), (2, DEFAULT, 2.5);
    INSERT INTO child (parent, name) VALUES (1, 'a'), (2, 'b');
    INSERT INTO other.values VALUES ([1], {'a': 1}, MAP {'k': 1}, '{"a": 1}', 5, 'x'::BLOB,
        '2026-01-01T00:00:00Z');
    INSERT INTO _scheduled_jobs VALUES (1, '2026-01-01T00:00:00Z');
"""
TREE = """
    CREATE TABLE tree (id INTEGER PRIMARY KEY, up INTEGER REFERENCES tree (id));
    INSERT INTO tree VALUES (1, NULL);
    INSERT INTO tree VALUES (2, 1);
"""
TRIGGER = """
    CREATE TABLE log (id BIGINT);
    CREATE TRIGGER noted AFTER INSERT ON _scheduled_jobs FOR EACH ROW
    INSERT INTO log VALUES (new.id);
"""
CATALOG = {
    "duckdb_tables": "schema_name, table_name, sql, comment",
    "duckdb_columns": "schema_name, table_name, column_name, data_type, column_default, comment",
    "duckdb_views": "schema_name, view_name, sql",
    "duckdb_indexes": "schema_name, index_name, sql",
    "duckdb_sequences": "schema_name, sequence_name, sql",
    "duckdb_types": "schema_name, type_name, logical_type, labels",
    "duckdb_constraints": "schema_name, table_name, constraint_text",
    "duckdb_functions": "schema_name, function_name, macro_definition, parameters",
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "app.duckdb"


@pytest.fixture
def database(path: Path) -> Iterator[OpenDatabase]:
    opened = open_database(path)
    opened.writer.execute(SCHEMA)
    yield opened
    opened.close()


def contents(file: Path) -> dict[str, list[tuple[object, ...]]]:
    """The whole catalog and every row."""
    found: dict[str, list[tuple[object, ...]]] = {}
    with duckdb.connect(str(file), read_only=True) as connection:
        for view, columns in CATALOG.items():
            found[view] = connection.execute(
                f"SELECT {columns} FROM {view}() WHERE database_name = current_database() "
                "AND schema_name NOT IN ('pg_catalog', 'information_schema') ORDER BY ALL"
            ).fetchall()
        for schema, name, *_ in found["duckdb_tables"]:
            quoted = str(name).replace('"', '""')
            found[f"{schema}.{name}"] = connection.execute(
                f'SELECT * FROM {schema}."{quoted}" ORDER BY ALL'
            ).fetchall()
    return found


def test_everything_of_the_user_survives(database: OpenDatabase, path: Path) -> None:
    database.close()
    before = contents(path)

    compact_database(path)

    assert contents(path) == before
    with duckdb.connect(str(path)) as connection:
        assert connection.execute("SELECT nextval('ids')").fetchall() == [(12,)]
        assert connection.execute("FROM a_view").fetchall() == [(10, 11), (11, 12)]
        assert connection.execute("FROM by_macro").fetchall() == [(10,), (11,)]
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("INSERT INTO child (parent, name) VALUES (99, 'c')")


def test_compacted_file_has_no_log_and_keeps_its_mode(database: OpenDatabase, path: Path) -> None:
    database.close()
    path.chmod(0o640)

    compact_database(path)

    assert [file.name for file in path.parent.iterdir()] == ["app.duckdb"]
    assert path.stat().st_mode & 0o777 == 0o640


def test_symbolic_link_stays_a_link(database: OpenDatabase, path: Path) -> None:
    database.close()
    link = path.with_name("link.duckdb")
    link.symlink_to(path)

    compact_database(link)

    assert link.is_symlink()
    assert not path.with_name("app.duckdb.wal").exists()


@pytest.mark.parametrize(
    "uncopyable",
    [
        pytest.param(TREE, id="foreign key into its own table"),
        pytest.param(TRIGGER, id="trigger"),
    ],
)
def test_schema_that_cannot_be_copied_is_checkpointed_in_place(
    uncopyable: str, database: OpenDatabase, path: Path
) -> None:
    database.writer.execute(uncopyable)
    objects = (
        "SELECT count(*) FROM duckdb_tables() UNION ALL SELECT count(*) FROM duckdb_triggers()"
    )
    before = database.writer.execute(objects).fetchall()
    database.close()

    compact_database(path)

    with duckdb.connect(str(path)) as connection:
        assert connection.execute(objects).fetchall() == before
        assert connection.execute("SELECT count(*) FROM child").fetchall() == [(2,)]
    assert [file.name for file in path.parent.iterdir()] == ["app.duckdb"]


KILLED = """
import os, shutil, sys
from pathlib import Path
from rxferrix_lab.storage import compaction
from rxferrix_lab.storage.connection import open_database

folder = Path(sys.argv[1])
file = folder / "app.duckdb"

def build():
    database = open_database(file)
    database.writer.execute("CREATE TABLE notes (id BIGINT); INSERT INTO notes FROM range(100)")
    database.close()
    compaction.compact_database(file)
    database = open_database(file)
    database.writer.execute("INSERT INTO notes FROM range(100, 200)")
    database.close()

def die_at(moment):
    left = [moment]
    def step():
        left[0] -= 1
        if left[0] == 0:
            os._exit(9)
    def interrupted(call):
        def wrapped(*args, **kwargs):
            step()
            result = call(*args, **kwargs)
            step()
            return result
        return wrapped
    for name in ("rename", "replace", "fsync", "unlink", "utime", "chmod"):
        setattr(os, name, interrupted(getattr(os, name)))
    compaction.compact_database(file)

def check():
    database = open_database(file)
    rows = database.writer.execute("SELECT count(*), sum(id) FROM notes").fetchall()
    database.writer.execute("INSERT INTO notes VALUES (0)")
    database.close()
    compaction.compact_database(file)
    names = [each.name for each in folder.iterdir()]
    print(rows, names, flush=True)

def in_child(work, *args):
    # No connection is open in this process, so its children may fork off freely.
    child = os.fork()
    if child == 0:
        work(*args)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

moment, status = 0, 9
while status == 9:
    moment += 1
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    assert in_child(build) == 0
    status = in_child(die_at, moment)
    assert in_child(check) == 0
print(moment, status)
"""


def test_kill_at_any_moment_loses_nothing_and_repeats_nothing(tmp_path: Path) -> None:
    child = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "killed")],
        capture_output=True,
        text=True,
        check=False,
    )

    *states, last = child.stdout.splitlines()

    assert child.stderr == ""
    assert set(states) == {"[(200, 19900)] ['app.duckdb']"}
    moments, status = last.split()
    assert int(moments) > 20
    assert status == "0"


def test_copy_that_was_cut_short_is_swept_at_the_next_start(
    database: OpenDatabase, path: Path
) -> None:
    database.close()
    path.with_name("app.duckdb.compacting").write_bytes(b"half a file")
    path.with_name("app.duckdb.compacting.wal").write_bytes(b"half a log")

    open_database(path).close()

    assert sorted(f.name for f in path.parent.iterdir()) == ["app.duckdb", "app.duckdb.wal"]


def test_whole_copy_is_not_put_over_a_file_that_was_changed_since(
    database: OpenDatabase, path: Path
) -> None:
    database.close()
    whole = path.with_name("app.duckdb.compacted")
    whole.write_bytes(path.read_bytes())
    os.utime(path, ns=(0, whole.stat().st_mtime_ns + 1))

    with pytest.raises(StoreUnavailableError, match="another program has changed it since"):
        recover_compaction(path)

    assert whole.exists()


def test_compaction_is_needed_once_the_log_is_large(database: OpenDatabase, path: Path) -> None:
    database.close()
    size = path.with_name("app.duckdb.wal").stat().st_size

    assert needs_compaction(path, wal_bytes=size)
    assert not needs_compaction(path, wal_bytes=size + 1)
    assert not needs_compaction(path)
    assert not needs_compaction(path.with_name("missing.duckdb"), wal_bytes=0)


def test_file_with_a_second_hard_link_is_left_alone(database: OpenDatabase, path: Path) -> None:
    database.close()
    os.link(path, path.with_name("hard.duckdb"))

    assert not needs_compaction(path, wal_bytes=1)


def test_full_disk_leaves_the_old_file_as_it_was(database: OpenDatabase, path: Path) -> None:
    database.close()
    before = path.read_bytes(), path.with_name("app.duckdb.wal").read_bytes()
    code = """
import resource, signal, sys
from rxferrix_lab.storage.compaction import compact_database
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
compact_database(sys.argv[1])
"""

    child = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)

    assert "StoreUnavailableError" in child.stderr
    assert "is unchanged" in child.stderr
    assert (path.read_bytes(), path.with_name("app.duckdb.wal").read_bytes()) == before
    assert len(list(path.parent.iterdir())) == 2


def test_backup_holds_what_was_committed_and_the_app_goes_on(
    database: OpenDatabase, path: Path
) -> None:
    target = path.with_name("copy.duckdb")

    with database.reader() as reader:
        backup(database, target)
        reader.execute("SELECT count(*) FROM child").fetchall()
    database.writer.execute("DROP TABLE child CASCADE")
    database.close()

    with duckdb.connect(str(target), read_only=True) as copy:
        assert copy.execute("SELECT count(*) FROM child").fetchall() == [(2,)]
    assert sorted(f.name for f in path.parent.iterdir() if "copy" in f.name) == ["copy.duckdb"]


def test_backup_goes_to_the_backup_folder(path: Path) -> None:
    folder = path.parent / "it's a folder"
    folder.mkdir()
    opened = open_database(":memory:", backup_folder=folder)
    opened.writer.execute("CREATE TABLE notes AS SELECT 1 AS id")

    backup(opened, folder / "copy.duckdb")

    with duckdb.connect(str(folder / "copy.duckdb"), read_only=True) as copy:
        assert copy.execute("FROM notes").fetchall() == [(1,)]
    opened.close()


def test_backup_elsewhere_is_refused(database: OpenDatabase, path: Path) -> None:
    with pytest.raises(ValueError, match="backup_folder="):
        backup(database, path.parent.parent / "copy.duckdb")
    with pytest.raises(ValueError, match="elsewhere"):
        backup(database, path.parent / ".." / "copy.duckdb")


def test_backup_never_overwrites(database: OpenDatabase, path: Path) -> None:
    with pytest.raises(ValueError, match="never overwrites"):
        backup(database, path)


def test_backup_into_a_missing_folder_is_refused(database: OpenDatabase, path: Path) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        backup(database, path.parent / "missing" / "copy.duckdb")


def test_backup_that_fails_leaves_nothing(database: OpenDatabase, path: Path) -> None:
    database.writer.execute(TREE)

    with pytest.raises(StoreUnavailableError, match="could not be written"):
        backup(database, path.with_name("copy.duckdb"))

    assert not [f for f in path.parent.iterdir() if "copy" in f.name]
    assert database.writer.execute("SELECT count(*) FROM child").fetchall() == [(2,)]
