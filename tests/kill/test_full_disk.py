"""A disk that is really full: a process whose files may not grow, and later may again."""

import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.kill.full_disk import make_app

pytestmark = pytest.mark.kill


class Process:
    """The app in a process of its own, told line by line what to do."""

    def __init__(self, checkout: Path, path: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.kill.full_disk", str(path)],
            cwd=checkout,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def does(self, command: str) -> str:
        """Its answer to a command."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        return self._process.stdout.readline().strip()

    def kill(self) -> None:
        """End it, whatever it does."""
        self._process.kill()
        self._process.communicate()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "app.duckdb"


@pytest.fixture
def process(checkout: Path, path: Path) -> Generator[Process, None, None]:
    made = Process(checkout, path)
    yield made
    made.kill()


def test_callers_are_told_and_nothing_acknowledged_is_lost(process: Process, path: Path) -> None:
    process.does("limit")
    said = process.does("write")
    process.does("lift")
    acknowledged = [int(row) for row in process.does("end").split()]

    app = make_app(path).start()
    stored = list(app.sql("SELECT id FROM notes ORDER BY id")["id"])
    app.stop()

    assert said.startswith("refused after")
    assert stored == acknowledged


def test_the_app_goes_on_by_itself_once_there_is_room(process: Process) -> None:
    process.does("begin")
    process.does("limit")
    process.does("write")
    process.does("lift")

    assert process.does("wait") == "Succeeded"
    process.does("begin")
    assert process.does("wait") == "Succeeded"
