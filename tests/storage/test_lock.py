"""One app in one process holds a database file."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab.errors import DatabaseInUseError, StoreUnavailableError
from rxferrix_lab.storage.lock import FileLock

# Keeps its lock until its standard input is closed.
HOLD = """
import sys
from rxferrix_lab.storage.lock import FileLock
lock = FileLock(sys.argv[1])
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""
TAKE = """
import sys
from rxferrix_lab.storage.lock import FileLock
FileLock(sys.argv[1]).acquire()
"""


def hold_elsewhere(path: Path) -> subprocess.Popen[str]:
    child = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "held\n"
    return child


def test_second_app_in_this_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "app.duckdb"

    with FileLock(path), pytest.raises(DatabaseInUseError, match="this process") as refusal:
        FileLock(path).acquire()

    assert refusal.value.pid == os.getpid()
    assert refusal.value.path == path
    assert str(path) in str(refusal.value)


def test_second_process_is_refused_and_told_who_holds_the_file(tmp_path: Path) -> None:
    path = tmp_path / "app.duckdb"

    with hold_elsewhere(path) as child:
        with pytest.raises(DatabaseInUseError, match=f"process {child.pid} .*stop the app") as no:
            FileLock(path).acquire()
        child.communicate()

    assert no.value.pid == child.pid


def test_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "app.duckdb"
    with hold_elsewhere(path) as child:
        child.kill()
        child.communicate()

    with FileLock(path):
        written = path.with_name("app.duckdb.lock").read_text()

    assert written == f"{os.getpid()}\n"


def test_released_lock_can_be_taken_again(tmp_path: Path) -> None:
    lock = FileLock(tmp_path / "app.duckdb")
    lock.acquire()
    lock.release()
    lock.release()

    with FileLock(tmp_path / "app.duckdb") as again:
        assert again.path == tmp_path / "app.duckdb"


def test_symbolic_link_and_relative_path_are_the_same_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "app.duckdb"
    path.touch()
    (tmp_path / "link.duckdb").symlink_to(path)
    monkeypatch.chdir(tmp_path)

    with FileLock(path):
        for other in ("link.duckdb", "app.duckdb", "../" + tmp_path.name + "/app.duckdb"):
            with pytest.raises(DatabaseInUseError):
                FileLock(other).acquire()


def test_hard_link_in_this_process_is_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "app.duckdb"
    path.touch()
    os.link(path, tmp_path / "hard.duckdb")

    with FileLock(path), pytest.raises(DatabaseInUseError):
        FileLock(tmp_path / "hard.duckdb").acquire()


def test_two_files_are_held_at_once(tmp_path: Path) -> None:
    with FileLock(tmp_path / "a.duckdb"), FileLock(tmp_path / "b.duckdb") as second:
        assert second.path == tmp_path / "b.duckdb"


def test_memory_needs_no_lock() -> None:
    with FileLock(":memory:") as first, FileLock(":memory:") as second:
        assert first.path is None
        assert second.path is None


def test_lock_outlives_an_open_and_close_of_the_database_file(tmp_path: Path) -> None:
    path = tmp_path / "app.duckdb"
    duckdb.connect(str(path)).close()

    with FileLock(path):
        path.read_bytes()
        child = subprocess.run([sys.executable, "-c", TAKE, path], capture_output=True, text=True)

    assert "DatabaseInUseError" in child.stderr


def test_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="missing does not exist"):
        FileLock(tmp_path / "missing" / "app.duckdb").acquire()


def test_path_of_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="is a folder"):
        FileLock(tmp_path).acquire()


def test_lock_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "app.duckdb.lock").mkdir()

    with pytest.raises(StoreUnavailableError, match=r"app\.duckdb\.lock cannot be written"):
        FileLock(tmp_path / "app.duckdb").acquire()
