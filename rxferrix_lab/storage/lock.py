"""One app holds one database file.

The lock is an own ``flock`` on ``<path>.lock``. DuckDB's lock is a POSIX ``fcntl`` lock, which any
other open-and-close of the file in this process drops, so this module never opens the database file
itself.
"""

import fcntl
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self
from weakref import WeakSet

from rxferrix_lab.errors import DatabaseInUseError, StoreUnavailableError
from rxferrix_lab.storage.fork import poison_after_fork

MEMORY = ":memory:"

# Owner: FileLock. A flock of this process does not conflict with a hard link of the same file.
_held: "WeakSet[FileLock]" = WeakSet()
_registry = threading.Lock()


class FileLock:
    """The right of one app in one process to use a database file.

    Attributes:
        path: the file, symbolic links resolved; None for ``":memory:"``, which needs no lock.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = None if str(path) == MEMORY else Path(path).resolve()
        self._descriptor: int | None = None
        poison_after_fork(self)

    def acquire(self) -> None:
        """Take the lock, and keep it until `release`.

        Raises:
            DatabaseInUseError: if another app holds the file, in this process or another.
            StoreUnavailableError: if the folder is missing or cannot be written, or the path is a
                folder.
        """
        if self.path is None or self._descriptor is not None:
            return
        _check_place(self.path)
        with _registry:
            if any(_same_file(self.path, other.path) for other in _held):
                raise _in_use(self.path, os.getpid())
            self._descriptor = _flock(self.path)
            _held.add(self)

    def release(self) -> None:
        """Give the lock up. The lock file stays: removing it would race with the next holder."""
        with _registry:
            _held.discard(self)
            descriptor, self._descriptor = self._descriptor, None
            if descriptor is not None:
                fcntl.flock(descriptor, fcntl.LOCK_UN)
                os.close(descriptor)

    def poison(self) -> None:
        """Drop the inherited descriptor: a child neither prolongs nor lifts its parent's lock."""
        _held.discard(self)
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


def _check_place(path: Path) -> None:
    if path.is_dir():
        raise StoreUnavailableError(f"{path} is a folder; give the path of a database file in it")
    if not path.parent.is_dir():
        raise StoreUnavailableError(
            f"{path} cannot be opened: the folder {path.parent} does not exist; create it first"
        )
    if not os.access(path.parent, os.W_OK):
        raise StoreUnavailableError(
            f"{path} cannot be opened: the folder {path.parent} is not writable for this user, and "
            "the database keeps its log and its lock beside the file"
        )


def _same_file(path: Path, held: Path | None) -> bool:
    # Looked up each time: compaction puts a new inode under the held path.
    if held is None or path == held:
        return held is not None
    return path.exists() and held.exists() and path.samefile(held)


def _flock(path: Path) -> int:
    lock_file = path.with_name(path.name + ".lock")
    while True:
        try:
            descriptor = os.open(lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StoreUnavailableError(
                f"{path} cannot be locked: {lock_file} cannot be written ({error.strerror})"
            ) from error
        if _locked(descriptor, path) and _still_there(descriptor, lock_file):
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
            return descriptor
        os.close(descriptor)


def _locked(descriptor: int, path: Path) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = _written_pid(descriptor)
        os.close(descriptor)
        raise _in_use(path, holder) from None
    except OSError as error:
        os.close(descriptor)
        raise StoreUnavailableError(
            f"{path} cannot be locked: this file system has no file locks ({error.strerror}); "
            "use a local disk"
        ) from error
    return True


def _still_there(descriptor: int, lock_file: Path) -> bool:
    """Whether the locked file is the one that a second process would open."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(lock_file))
    except FileNotFoundError:
        return False


def _written_pid(descriptor: int) -> int | None:
    written = os.pread(descriptor, 20, 0).strip()
    return int(written) if written.isdigit() else None


def _in_use(path: Path, pid: int | None) -> DatabaseInUseError:
    if pid == os.getpid():
        problem = (
            f"another app of this process (process {pid}) holds the database; stop that app first, "
            "or give this one another file"
        )
    else:
        holder = "another process" if pid is None else f"process {pid}"
        problem = (
            f"{holder} holds the database; stop the app that runs there, or give this one another "
            "file"
        )
    return DatabaseInUseError(path, pid, problem)
