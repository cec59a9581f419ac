"""An IPython shell in a folder of its own, without a kernel and without the user's profile."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

from rxferrix_lab import RxFerrix


@dataclass
class Shell:
    """A shell, and what it answers."""

    ip: Any  # IPython's own class is typed in part

    def run(self, cell: str) -> str:
        """Run a cell; what it printed and showed, as text."""
        with capture_output() as captured:
            self.ip.run_cell(cell)
        outputs: list[Any] = captured.outputs
        shown = [str(output.data["text/plain"]) for output in outputs]
        return "\n".join([captured.stdout, captured.stderr, *shown])

    def value(self, cell: str) -> object:
        """Run a cell; the value of its last line."""
        with capture_output():
            return self.ip.run_cell(cell).result

    @property
    def app(self) -> RxFerrix:
        """The app of the namespace."""
        app = self.ip.user_ns["app"]
        assert isinstance(app, RxFerrix)
        return app


@pytest.fixture
def bare_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shell]:
    """A shell without the extension."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / ".ipython"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    InteractiveShell.clear_instance()
    config = Config(
        {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}}
    )
    shell = Shell(InteractiveShell.instance(config=config))
    yield shell
    for value in list(shell.ip.user_ns.values()):
        if isinstance(value, RxFerrix):
            value.stop()
    InteractiveShell.clear_instance()


@pytest.fixture
def shell(bare_shell: Shell) -> Shell:
    """A shell with the extension loaded, and its app running."""
    bare_shell.run("%load_ext rxferrix_lab")
    bare_shell.run("from datetime import timedelta\nimport time")
    return bare_shell
