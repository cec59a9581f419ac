"""A database file made small again, and copied.

A checkpoint rewrites blocks in place, and a power cut in that window can cost the file. Compaction
copies everything into a new file instead and puts that in the old one's place. Runs only while
nobody has the file open. Never decides when.

On disk: ``<file>.compacting`` is a copy under way, worth nothing. ``<file>.compacted`` is a whole
copy, and the truth from the moment it has that name: whatever happens then, the next start removes
the old log and moves it into place. So a log is never replayed onto a file that already holds it.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from rxferrix_lab.errors import StoreUnavailableError

if TYPE_CHECKING:
    from rxferrix_lab.storage.connection import OpenDatabase

_LOGS = (".wal", ".wal.checkpoint", ".wal.recovery")

# COPY FROM DATABASE loses triggers, and fails on rows of a foreign key into their own table.
_OBJECTS = """
    SELECT 'table', schema_name, table_name FROM duckdb_tables() WHERE database_name = $db
    UNION ALL
    SELECT 'view', schema_name, view_name FROM duckdb_views() WHERE database_name = $db
    UNION ALL
    SELECT 'index', schema_name, index_name FROM duckdb_indexes() WHERE database_name = $db
    UNION ALL
    SELECT 'sequence', schema_name, sequence_name FROM duckdb_sequences() WHERE database_name = $db
    UNION ALL
    SELECT 'type', schema_name, type_name FROM duckdb_types() WHERE database_name = $db
    UNION ALL
    SELECT 'trigger', schema_name, trigger_name FROM duckdb_triggers() WHERE database_name = $db
    UNION ALL
    SELECT function_type, schema_name, function_name || macro_definition
    FROM duckdb_functions() WHERE database_name = $db AND macro_definition IS NOT NULL
    ORDER BY ALL
"""


def needs_compaction(path: str | Path, wal_bytes: int = 64 * 2**20) -> bool:
    """Whether the log beside ``path`` has grown to ``wal_bytes`` or more.

    A file with a second hard link is left alone: compaction would split the two names.
    """
    file = Path(path).resolve()
    if not file.exists() or file.stat().st_nlink > 1:
        return False
    log = _beside(file, ".wal")
    return log.exists() and log.stat().st_size >= wal_bytes


def compact_database(path: str | Path) -> None:
    """Put everything into a new file, without a log, in the place of the old one.

    A kill at any moment leaves either the old file with its log, or the new one. Where DuckDB
    cannot copy the user's schema whole, the old file is checkpointed in place.

    Raises:
        StoreUnavailableError: if there is no room for the copy; the old file is untouched.
    """
    file = Path(path).resolve()
    recover_compaction(file)
    fresh = _beside(file, ".compacting")
    try:
        copied = _copy_whole(file, fresh)
    except (duckdb.IOException, duckdb.OutOfMemoryException) as error:
        _remove_database(fresh)
        raise StoreUnavailableError(
            f"{file} cannot be compacted, and is unchanged: {error}; free some space on the disk"
        ) from error
    if copied:
        _adopt(file, fresh)
    else:
        _remove_database(fresh)
        _checkpoint_in_place(file)


def recover_compaction(path: str | Path) -> None:
    """Finish or forget a compaction that was interrupted. Harmless when there was none.

    Raises:
        StoreUnavailableError: if another program changed the old file after the copy was complete.
    """
    file = Path(path).resolve()
    _remove_database(_beside(file, ".compacting"))
    whole = _beside(file, ".compacted")
    if not whole.exists():
        return
    if _newest_change(file) > whole.stat().st_mtime_ns:
        raise StoreUnavailableError(
            f"a compaction of {file} was interrupted, and another program has changed it since; "
            f"{whole} holds the state before that change. Keep copies, then delete {whole.name} to "
            f"go on with {file.name}, or delete {file.name} and its log to go back"
        )
    _finish(file, whole)


def backup(database: "OpenDatabase", target: str | Path) -> None:
    """Copy what is committed into a new file. On the writer's thread, outside a transaction.

    Args:
        database: the open database.
        target: a path that does not exist yet, in the database's folder or the backup folder.

    Raises:
        ValueError: if ``target`` exists or lies elsewhere.
        StoreUnavailableError: if the copy failed; nothing is left of it.
    """
    file = _checked_target(database, Path(target).resolve())
    part = _beside(file, ".part")
    _remove_database(part)
    writer = database.writer
    source = writer.execute("SELECT current_database()").fetchall()[0][0]
    try:
        writer.execute(f"ATTACH {_literal(str(part))} AS _backup")
        try:
            writer.execute(f"COPY FROM DATABASE {_identifier(source)} TO _backup")
            writer.execute("CHECKPOINT _backup")
        finally:
            writer.execute("DETACH _backup")
    except duckdb.Error as error:
        _remove_database(part)
        raise StoreUnavailableError(f"the backup {file} could not be written: {error}") from error
    _sync(part)
    os.rename(part, file)
    _sync(file.parent)


def _checked_target(database: "OpenDatabase", file: Path) -> Path:
    if not any(file.is_relative_to(folder) for folder in database.folders):
        allowed = " or ".join(str(folder) for folder in database.folders) or "no folder"
        raise ValueError(
            f"a backup can be written in {allowed}, and {file} is elsewhere; pass backup_folder= "
            "to the app"
        )
    if file.exists():
        raise ValueError(f"{file} exists; a backup never overwrites, so choose another name")
    if not file.parent.is_dir():
        raise ValueError(f"the folder {file.parent} does not exist; create it first")
    return file


def _copy_whole(file: Path, fresh: Path) -> bool:
    """Copy ``file`` and its log into ``fresh``; False where DuckDB cannot copy all of it."""
    with duckdb.connect(":memory:", config={"threads": 1}) as copier:
        _attach_source(copier, file)
        copier.execute(f"ATTACH {_literal(str(fresh))} AS target")
        try:
            copier.execute("COPY FROM DATABASE source TO target")
        except (duckdb.IOException, duckdb.OutOfMemoryException):
            raise
        except duckdb.Error:
            return False
        if _inventory(copier, "source") != _inventory(copier, "target"):
            return False
        copier.execute("CHECKPOINT target")
        copier.execute("DETACH target")
    return True


def _attach_source(copier: duckdb.DuckDBPyConnection, file: Path) -> None:
    if any(_beside(file, suffix).exists() for suffix in _LOGS[1:]):
        # A checkpoint was interrupted: only an open for writing puts that right.
        with duckdb.connect(str(file), config={"threads": 1}) as repairer:
            repairer.execute("PRAGMA disable_checkpoint_on_shutdown")
    copier.execute(f"ATTACH {_literal(str(file))} AS source (READ_ONLY)")
    # A column made by a macro is bound while the macro is in the source only.
    copier.execute("USE source")


def _inventory(copier: duckdb.DuckDBPyConnection, database: str) -> list[tuple[object, ...]]:
    """Every object of the database by name, and every table with its number of rows."""
    objects = copier.execute(_OBJECTS, {"db": database}).fetchall()
    tables = [(schema, name) for kind, schema, name in objects if kind == "table"]
    counts = [
        copier.execute(
            f"SELECT count(*) FROM {database}.{_identifier(schema)}.{_identifier(name)}"
        ).fetchall()[0]
        for schema, name in tables
    ]
    return [*objects, *counts]


def _adopt(file: Path, fresh: Path) -> None:
    old = file.stat()
    fresh.chmod(old.st_mode & 0o7777)
    # Later than every write to the old file, also where the clock was set back in between.
    newest = max(fresh.stat().st_mtime_ns, _newest_change(file))
    os.utime(fresh, ns=(newest, newest))
    _sync(fresh)
    whole = _beside(file, ".compacted")
    os.rename(fresh, whole)
    _sync(file.parent)
    _finish(file, whole)


def _finish(file: Path, whole: Path) -> None:
    for suffix in _LOGS:
        _beside(file, suffix).unlink(missing_ok=True)
    # The log must be gone for good before the new file is seen, or it would be replayed onto it.
    _sync(file.parent)
    os.replace(whole, file)
    _sync(file.parent)


def _checkpoint_in_place(file: Path) -> None:
    with duckdb.connect(str(file), config={"threads": 1}) as connection:
        connection.execute("CHECKPOINT")


def _newest_change(file: Path) -> int:
    candidates = (file, *(_beside(file, suffix) for suffix in _LOGS))
    return max((each.stat().st_mtime_ns for each in candidates if each.exists()), default=0)


def _remove_database(file: Path) -> None:
    for each in (file, *(_beside(file, suffix) for suffix in _LOGS)):
        each.unlink(missing_ok=True)


def _beside(file: Path, suffix: str) -> Path:
    return file.with_name(file.name + suffix)


def _sync(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
