"""The job store: one DuckDB file, one writer, any number of readers.

Opens and locks the file, brings its schema up to date, gives out transactions and snapshots,
compacts when nothing else is open, and opens again after an error that lost the database. Decides
nothing.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import duckdb

from rxferrix_lab.errors import NotRunningError, StoreUnavailableError
from rxferrix_lab.storage.catalog import Catalog
from rxferrix_lab.storage.compaction import backup, compact_database, needs_compaction
from rxferrix_lab.storage.connection import OpenDatabase, open_database
from rxferrix_lab.storage.gate import Gate
from rxferrix_lab.storage.ids import IdSequence, begin_above_largest
from rxferrix_lab.storage.lock import MEMORY, FileLock
from rxferrix_lab.storage.migrate import migrate
from rxferrix_lab.storage.recent_jobs import RecentJobs
from rxferrix_lab.storage.snapshot import Snapshot
from rxferrix_lab.storage.transaction import Sequences, Transaction

QUERY_LIMIT = timedelta(minutes=5)
DatabaseError = duckdb.Error  # for floors above, which do not know DuckDB
OutOfMemory = duckdb.OutOfMemoryException
T = TypeVar("T")
LARGE_LOG = 64 * 2**20


class Store:
    """A database that an app holds.

    Transactions belong to the writer's thread, snapshots to any.
    """

    transactions: type[Transaction] = Transaction

    def __init__(self, path: str | Path, *, backup_folder: str | Path | None = None) -> None:
        self.path = path
        self.compact_above = LARGE_LOG  # bytes of the log
        self._backup_folder = backup_folder
        self._gate = Gate()
        self._openings = 0
        self._lock = FileLock(path)
        self._open: OpenDatabase | None = None
        self._catalog: Catalog | None = None
        self._sequences: Sequences = {}
        self._recent = RecentJobs()
        self._revision = 0

    # --- opening and closing --------------------------------------------------------------------
    def open(self) -> None:
        """Lock, compact where the log is large, open, migrate, and find where the ids go on.

        Raises:
            DatabaseInUseError: if another app, in this process or another, holds the file.
            StoreUnavailableError: if the file cannot be opened as a database of ours.
        """
        self._lock.acquire()
        try:
            self._refuse_lone_log()
            if self.wants_compaction:
                compact_database(self.path)
            self._connect()
        except BaseException:
            self.close()
            raise

    def _refuse_lone_log(self) -> None:
        """A log without its database holds commits that opening would throw away."""
        log = Path(f"{self.path}.wal")
        if not self.is_in_memory and log.is_file() and log.stat().st_size and not self._exists():
            raise StoreUnavailableError(
                f"{self.path} is missing, but its log {log} is there and holds what was committed "
                "last; put the database back beside it, or move the log away to begin anew"
            )

    def _exists(self) -> bool:
        return Path(self.path).exists()

    def _connect(self) -> None:
        self._openings += 1
        self._open = open_database(self.path, backup_folder=self._backup_folder)
        writer = self._open.writer
        migrate(writer, self.path)
        self._catalog = Catalog(writer)
        self._resume_ids(writer)
        (row,) = writer.execute("SELECT coalesce(max(revision), 0) FROM _scheduled_jobs").fetchall()
        self._revision = max(self._revision, row[0])

    def reopen(self) -> None:
        """Close every connection and open again, in this process, the lock held throughout.

        Snapshots that are open end with an error; new ones wait.
        """
        with self._gate.held():
            self.disconnect()
            self._connect()

    @property
    def wants_compaction(self) -> bool:
        """Whether the log has grown so large that the file should be rewritten."""
        return not self.is_in_memory and needs_compaction(self.path, self.compact_above)

    def compact(self) -> bool:
        """Rewrite the file; False where there is too little to gain, or somebody reads.

        New snapshots wait meanwhile. On the writer's thread, outside a transaction.

        Raises:
            StoreUnavailableError: if there is no room for the copy; all goes on with the old file.
        """
        if not self.wants_compaction:
            return False
        with self._gate.held_if_empty() as is_alone:
            if not is_alone:
                return False
            self.disconnect()
            try:
                compact_database(self.path)
            finally:
                self._connect()
        return True

    def close(self) -> None:
        """Close every connection and give the lock back. Harmless when closed."""
        self.disconnect()
        self._lock.release()

    def disconnect(self) -> None:
        """Close every connection, the lock held; the writer opens again before it goes on."""
        self._recent.clear()
        opened, self._open = self._open, None  # first, so that a reader cut off knows why
        if opened is not None:
            opened.close()

    @property
    def is_in_memory(self) -> bool:
        """Whether the database is gone when it is closed."""
        return str(self.path) == MEMORY

    @property
    def is_open(self) -> bool:
        """Whether transactions and snapshots can be had."""
        return self._open is not None

    # --- using ----------------------------------------------------------------------------------
    def transaction(self) -> Transaction:
        """Begin a transaction; the caller ends it with `finish` or `rollback`."""
        database, catalog = self._database(), self._catalog
        if catalog is None:
            raise NotRunningError
        self._revision += 1
        return self.transactions(
            database.writer, catalog, self._sequences, self._recent, self._revision
        )

    @contextmanager
    def snapshot(self, limit: timedelta | None = QUERY_LIMIT) -> Generator[Snapshot, None, None]:
        """A committed state to read, for at most `limit` of execution."""
        with self._gate.reading(), self._database().reader(limit) as connection:
            yield Snapshot(connection)

    def lasting(self, look: Callable[[], T]) -> T:
        """What `look` finds in snapshots of its own; tried again where the store was reopened.

        Raises:
            NotRunningError: where the store is closed before or while it looks.
        """
        while True:
            openings = self._openings
            try:
                return look()
            except (duckdb.Error, StoreUnavailableError, NotRunningError) as error:
                with self._gate.reading():  # returns once a reopen that is under way is over
                    was_reopened = self._openings != openings
                if not was_reopened and not self.is_open:
                    raise NotRunningError("the app has stopped") from error
                if not was_reopened:
                    raise

    def read(self, look: Callable[[duckdb.DuckDBPyConnection], T]) -> T:
        """What `look` finds on the writer's own connection, outside any transaction."""
        return look(self._database().writer)

    def was_committed(self, witness: tuple[str, int, int]) -> bool:
        """Whether the transaction with this witness is durable; asked after a reopen."""
        table, row, revision = witness
        condition = "AND revision = $revision" if table == "_scheduled_jobs" else ""
        values = {"id": row} | ({"revision": revision} if condition else {})
        query = f"SELECT count(*) FROM {table} WHERE id = $id {condition}"  # our names
        (found,) = self.read(lambda writer: writer.execute(query, values).fetchall())
        return bool(found[0] > 0)

    def backup(self, target: str | Path) -> None:
        """Copy a consistent state into a new file.

        Raises:
            ValueError: if the target exists, or lies outside the database's and the backup folder.
        """
        backup(self._database(), target)

    def interrupt(self) -> None:
        """Stop what the database executes right now."""
        if self._open is not None:
            self._open.interrupt()

    def _database(self) -> OpenDatabase:
        if self._open is None:
            raise NotRunningError("the database is closed")
        return self._open

    # --- ids ------------------------------------------------------------------------------------
    def _resume_ids(self, writer: duckdb.DuckDBPyConnection) -> None:
        """Ids go on above the largest in each table and above every mark."""
        marks: dict[str, int] = dict(
            writer.execute("SELECT table_name, reserved FROM _id_blocks").fetchall()
        )
        for table in _tables_with_ids(writer):
            mark = marks.get(table.lower(), 1)
            before = self._sequences.get(table.lower())
            drawn = before.next_id if before else 1
            ids = IdSequence(next_id=max(mark, drawn), durable=mark)
            begin_above_largest(writer, table, ids)
            self._sequences[table.lower()] = ids
        for table, mark in marks.items():
            self._sequences.setdefault(table, IdSequence(next_id=mark, durable=mark))


def _tables_with_ids(writer: duckdb.DuckDBPyConnection) -> list[str]:
    rows = writer.execute(
        """
        SELECT c.table_name
        FROM duckdb_columns() AS c
        JOIN duckdb_tables() AS t USING (database_name, schema_name, table_name)
        WHERE lower(c.column_name) = 'id' AND c.data_type = 'BIGINT' AND c.schema_name = 'main'
            AND c.database_name = current_database()
        ORDER BY c.table_name
        """
    ).fetchall()
    return [name for (name,) in rows]


def checked_path(path: object) -> str | Path:
    """The database's path, if it can be one.

    Raises:
        TypeError: for anything but text and paths.
    """
    if not isinstance(path, str | Path) or not str(path):
        raise TypeError(f'a database is a file\'s path or ":memory:", not {path!r:.60}')
    return path
