"""An open database, hardened.

Answers for how a connection is made, who may use it, and what an error of DuckDB means for the
instance. Takes no lock (`lock.py` does), starts no transaction but a reader's, and never decides
what to do about an error.
"""

import re
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path

import duckdb

from rxferrix_lab.errors import DatabaseInUseError, StoreUnavailableError
from rxferrix_lab.storage.compaction import recover_compaction
from rxferrix_lab.storage.fork import keep_forever, poison_after_fork
from rxferrix_lab.storage.lock import MEMORY


class OpenDatabase:
    """One DuckDB instance: a writer for one thread, and readers for any.

    Attributes:
        path: the file, symbolic links resolved; None in memory.
        folders: where a backup may be written.
    """

    def __init__(
        self, writer: duckdb.DuckDBPyConnection, path: Path | None, folders: tuple[Path, ...]
    ) -> None:
        self.path = path
        self.folders = folders
        self._writer: duckdb.DuckDBPyConnection | None = writer
        self._readers: set[duckdb.DuckDBPyConnection] = set()  # owner: this object, under _idle
        self._idle = threading.Condition()
        self._problem = "the database has been closed"
        poison_after_fork(self)

    @property
    def writer(self) -> duckdb.DuckDBPyConnection:
        """The one connection that writes. Only the writer's thread may use it.

        Raises:
            StoreUnavailableError: after `close`, or in a forked child.
        """
        if self._writer is None:
            raise StoreUnavailableError(self._problem)
        return self._writer

    @contextmanager
    def reader(
        self, max_execution: timedelta | None = None
    ) -> Generator[duckdb.DuckDBPyConnection]:
        """A fresh cursor inside a read-only transaction: one snapshot, closed at the end always.

        Args:
            max_execution: the longest that one statement may take, to the millisecond; None for no
                limit. A statement that takes longer raises ``duckdb.InterruptException``.
        """
        with self._idle:
            cursor = self.writer.cursor()
            self._readers.add(cursor)
        try:
            if max_execution is not None:
                milliseconds = max(1, max_execution // timedelta(milliseconds=1))
                cursor.execute(f"SET max_execution_time = {milliseconds}")
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            yield cursor
        finally:
            self._discard(cursor)

    def interrupt(self) -> None:
        """Stop the statements that run now, in writer and readers. Safe from any thread."""
        with self._idle:
            for connection in (*self._readers, self._writer):
                if connection is not None:
                    connection.interrupt()

    def close(self) -> None:
        """Close every connection, so that a reopen makes a new instance. Writes no checkpoint.

        Interrupts what runs in readers and returns once all are closed. The writer must be idle.
        """
        with self._idle:
            writer, self._writer = self._writer, None
            while busy := {reader for reader in self._readers if not _closed(reader)}:
                # DuckDB refuses to close a connection whose owner is inside a call. An interrupt
                # that comes before its statement is lost, so it is sent again.
                for reader in busy:
                    with suppress(duckdb.ConnectionException):  # it has ended this moment
                        reader.interrupt()
                self._idle.wait(_PATIENCE_S)
            self._readers.clear()
        if writer is not None:
            # An invalidated instance refuses its own rollback, and is closed all the same.
            with suppress(duckdb.FatalException):
                writer.close()

    def poison(self) -> None:
        """Make the inherited connections unusable and undestroyable in a forked child."""
        inherited = (*self._readers, self._writer)
        self._idle = threading.Condition()
        self._readers = set()
        self._writer = None
        self._problem = (
            "a forked child cannot use the database of its parent; start worker processes with the "
            '"spawn" method of multiprocessing'
        )
        for connection in inherited:
            if connection is not None:
                keep_forever(connection)

    def _discard(self, reader: duckdb.DuckDBPyConnection) -> None:
        with self._idle:
            if reader in self._readers and _closed(reader):
                self._readers.remove(reader)
                self._idle.notify_all()


_PATIENCE_S = 0.005


def _closed(connection: duckdb.DuckDBPyConnection) -> bool:
    """Close a reader, which rolls it back; False while another thread is inside a call."""
    try:
        connection.close()
    except duckdb.ResourceInUseException:
        return False
    except duckdb.FatalException:
        return True
    return True


def open_database(
    path: str | Path,
    *,
    memory_limit: str | None = None,
    backup_folder: str | Path | None = None,
) -> OpenDatabase:
    """Open a database with the settings for user SQL. Each ``":memory:"`` is a database of its own.

    Args:
        path: the file, created when absent, or ``":memory:"``. The caller holds its `FileLock`.
        memory_limit: as DuckDB writes it (``"2GB"``); None for DuckDB's own, 80 % of the machine.
        backup_folder: a second folder for backups, besides the database's own.

    Raises:
        DatabaseInUseError: if another program has the file open.
        StoreUnavailableError: if the file is damaged, of another DuckDB, or none of DuckDB's.
    """
    file = None if str(path) == MEMORY else Path(path).resolve()
    folders = [] if file is None else [file.parent]
    if backup_folder is not None:
        folders.append(Path(backup_folder).resolve())
    if file is not None:
        recover_compaction(file)
    writer = _connect(file, memory_limit)
    try:
        _harden(writer, folders)
    except duckdb.Error as error:
        writer.close()
        raise _explained(file, error) from error
    return OpenDatabase(writer, file, tuple(folders))


def is_fatal(error: BaseException) -> bool:
    """Whether the instance is lost: close everything, reopen, and read what was committed.

    A COMMIT that raised such an error may have been durable or not.
    """
    if isinstance(error, duckdb.FatalException | duckdb.InternalException):
        return True
    return isinstance(error, duckdb.Error) and "database has been invalidated" in str(error)


def is_transient(error: BaseException) -> bool:
    """Whether nothing was written, the instance is sound, and the same may succeed later.

    The disk was full when the log was written, or memory ran out.
    """
    if is_fatal(error):
        return False
    if isinstance(error, duckdb.OutOfMemoryException):
        return True
    return isinstance(error, duckdb.Error) and _WRITE_FAILED.search(str(error)) is not None


_WRITE_FAILED = re.compile(
    r"Failed to commit: (Could not|Failed to) (write|fsync|truncate)|No space left on device"
    r"|Disk quota exceeded|File too large"
)


def _connect(file: Path | None, memory_limit: str | None) -> duckdb.DuckDBPyConnection:
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "allow_community_extensions": False,
        "allow_persistent_secrets": False,
        "python_enable_replacements": False,
    }
    if memory_limit is not None:
        # Set later it would come after the replay of the log, which needs the most memory.
        config["memory_limit"] = memory_limit
    try:
        return duckdb.connect(MEMORY if file is None else str(file), config=config)
    except duckdb.Error as error:
        raise _explained(file, error) from error


def _harden(writer: duckdb.DuckDBPyConnection, folders: list[Path]) -> None:
    listed = ", ".join(_literal(str(folder)) for folder in folders)
    # GLOBAL: a plain SET is the session's own, and a reader's cursor would keep the machine's zone.
    writer.execute("SET GLOBAL TimeZone = 'UTC'")
    writer.execute("SET checkpoint_threshold = '256MB'")
    writer.execute("PRAGMA disable_checkpoint_on_shutdown")
    writer.execute(f"SET allowed_directories = [{listed}]")
    writer.execute("SET enable_external_access = false")
    writer.execute("SET allowed_configs = ['max_execution_time']")
    writer.execute("SET lock_configuration = true")


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _explained(file: Path | None, error: duckdb.Error) -> Exception:
    """Our error for what DuckDB raised while opening ``file``: what is wrong, and what to do."""
    if file is None:
        return StoreUnavailableError(f"the in-memory database cannot be opened: {error}")
    said = str(error)
    if "Could not set lock" in said:
        found = re.search(r"PID (\d+)", said)
        pid = int(found[1]) if found else None
        holder = f"process {pid}" if pid is not None else "another process"
        return DatabaseInUseError(
            file, pid, f"{holder} has the database open; close it there, or use another file"
        )
    if "different configuration" in said or "configuration has been locked" in said:
        return DatabaseInUseError(
            file,
            None,
            "this process has the database open with duckdb.connect; close that connection first, "
            "and read the file through the app",
        )
    return StoreUnavailableError(f"{file} cannot be opened: {_problem(file, said)}")


def _problem(file: Path, said: str) -> str:
    if "not a valid DuckDB database" in said:
        return "it is not a DuckDB database; move it away, or give the app another path"
    if "storage version" in said or "newer version" in said:
        return (
            f"it was written by another version of DuckDB, and this is {duckdb.__version__}; "
            f"install a DuckDB that reads it, or export it with the one that wrote it ({said})"
        )
    if "WAL" in said:
        return (
            f"its log {file.name}.wal is damaged; keep a copy of both files, then restore a "
            f"backup, or move the log away and lose what it held ({said})"
        )
    if re.search(r"[Cc]orrupt|checksum|Could not read enough bytes|Serialization", said):
        return f"it is damaged; keep a copy, then restore a backup ({said})"
    return said
