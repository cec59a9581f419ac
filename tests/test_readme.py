"""The README's Python runs as it stands there, and its commands are those that CI runs."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import CodeType

import pytest

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = r"<!-- {} command -->\n```sh\n(.+)\n```\n"


def blocks(readme: str) -> list[CodeType]:
    """The Python blocks, compiled so that a traceback names the README's own lines."""
    return [
        compile(
            "\n" * readme.count("\n", 0, found.start(1)) + found[1],
            "README.md",
            "exec",
            flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT,
            dont_inherit=True,
        )
        for found in BLOCK.finditer(readme)
    ]


@pytest.fixture(scope="module")
def readme(checkout: Path) -> str:
    return (checkout / "README.md").read_text()


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_every_python_block_runs_in_the_order_of_the_page(
    readme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "readme"}

    for block in blocks(readme):
        running = eval(block, namespace)  # a block with a top-level await gives a coroutine
        if inspect.iscoroutine(running):
            await running

    printed = capsys.readouterr().out
    assert "follow_up" in printed  # the data frame
    assert "False" in printed  # bob was not waiting before he signed up


def test_first_block_is_accepted_by_mypy_strict(
    readme: str, checkout: Path, tmp_path: Path
) -> None:
    first = BLOCK.search(readme)
    assert first is not None
    (tmp_path / "first_app.py").write_text(first[1])

    mypy = [sys.executable, "-m", "mypy", "--config-file", str(checkout / "pyproject.toml")]
    done = subprocess.run(
        [*mypy, str(tmp_path / "first_app.py")],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["dashboard", "test"])
def test_command_is_one_line_that_installs_and_then_runs(readme: str, name: str) -> None:
    found = re.search(COMMAND.format(name), readme)

    assert found is not None
    install, _, runs = found[1].rpartition(" && ")
    assert install.startswith("python3 -m venv .venv && .venv/bin/pip install -q -e ")
    assert runs.startswith(".venv/bin/")


def test_every_linked_file_is_there(readme: str, checkout: Path) -> None:
    linked = re.findall(r"\]\((?!http)([^)#]+)\)", readme)

    assert linked
    assert [path for path in linked if not (checkout / path).exists()] == []
