"""A forked child leaves its parent's database alone."""

import subprocess
import sys
from pathlib import Path

CHILD = """
import os, sys
from rxferrix_lab.errors import StoreUnavailableError
from rxferrix_lab.storage.connection import open_database
from rxferrix_lab.storage.lock import FileLock

lock = FileLock(sys.argv[1])
lock.acquire()
database = open_database(sys.argv[1])
database.writer.execute("CREATE TABLE notes (id BIGINT)")
database.writer.execute("INSERT INTO notes VALUES (1)")

def fork(work):
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        work()
        sys.exit(0)  # with all destructors, unlike os._exit
    os.waitpid(child, 0)
"""


def run(tmp_path: Path, code: str) -> list[str]:
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD + code, str(tmp_path / "app.duckdb")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.stderr == ""
    return child.stdout.splitlines()


def test_child_is_told_to_use_spawn(tmp_path: Path) -> None:
    code = """
def work():
    for use in (lambda: database.writer, lambda: database.reader().__enter__()):
        try:
            use()
        except StoreUnavailableError as error:
            print(error)
fork(work)
"""

    lines = run(tmp_path, code)

    assert len(lines) == 2
    assert all("forked child" in line and '"spawn"' in line for line in lines)


def test_child_that_closes_and_exits_leaves_the_parents_data_whole(tmp_path: Path) -> None:
    code = """
def work():
    database.interrupt()
    database.close()
    lock.release()
with database.reader() as reader:
    reader.execute("SELECT 1").fetchall()
    fork(work)
    fork(lambda: None)
    print(reader.execute("SELECT count(*) FROM notes").fetchall())
database.writer.execute("INSERT INTO notes VALUES (2)")
fork(work)
database.close()
print(open_database(sys.argv[1]).writer.execute("SELECT id FROM notes").fetchall())
"""

    assert run(tmp_path, code) == ["[(1,)]", "[(1,), (2,)]"]


def test_child_neither_lifts_nor_prolongs_the_lock(tmp_path: Path) -> None:
    code = """
import subprocess
take = "import sys; from rxferrix_lab.storage.lock import FileLock; FileLock(sys.argv[1]).acquire()"
def taken():
    child = subprocess.run([sys.executable, "-c", take, sys.argv[1]], stderr=subprocess.DEVNULL)
    return child.returncode == 0
fork(lock.release)
print(taken())
waits, ends = os.pipe()
child = os.fork()
if child == 0:
    os.read(waits, 1)
    os._exit(0)
os.close(lock._descriptor)  # what the kernel does when the parent is killed: no unlock, a close
print(taken())
os.write(ends, b"x")
os.waitpid(child, 0)
"""

    assert run(tmp_path, code) == ["False", "True"]
