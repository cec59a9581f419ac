"""A real JupyterLab in a folder of its own, and a notebook in it that tests can drive.

Nothing here sleeps: each step waits for what the page shows.
"""

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

PATIENCE_MS = 60_000
NUMBERED = re.compile(r"\[\d+\]")
SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
    "@jupyterlab/completer-extension:manager": {"autoCompletion": False},
    "@jupyterlab/fileeditor-extension:plugin": {},
}


@contextmanager
def running_lab(folder: Path) -> Generator[str]:
    """JupyterLab on this folder, with settings of its own; the address."""
    port = free_port()
    home = folder / ".home"
    overrides = home / "settings" / "overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(SETTINGS))
    environ = {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    environ.pop("JPY_SESSION_NAME", None)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
        *("--IdentityProvider.token=", f"--ServerApp.root_dir={folder}"),
        *("--LabApp.news_url=None", f"--LabApp.app_settings_dir={overrides.parent}"),
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    with (folder / "lab.log").open("w") as log:
        server = subprocess.Popen(command, cwd=folder, env=environ, stdout=log, stderr=log)
        try:
            address = f"http://127.0.0.1:{port}"
            wait_until_answering(f"{address}/api", server)
            yield address
        finally:
            server.terminate()
            server.wait()


def wait_until_answering(address: str, server: "subprocess.Popen[bytes]") -> None:
    """Return once the server answers at the address."""
    while server.poll() is None:
        try:
            with urlopen(address, timeout=5):  # our own server
                return
        except (URLError, OSError):
            continue
    raise RuntimeError(f"the server ended with {server.returncode}")


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class Notebook:
    """A notebook open in the browser."""

    def __init__(self, page: Page, address: str, name: str) -> None:
        self.page = page
        self.outside: list[str] = []  # what the page asked of other machines
        self.errors: list[str] = []  # what the page wrote to its console as such
        page.on("console", self._hear)
        page.on("request", lambda request: self._note(request.url, address))
        page.goto(f"{address}/doc/tree/{name}")
        self.wait_until_idle()

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _note(self, url: str, address: str) -> None:
        is_ours = url.startswith((address, address.replace("http", "ws"), "data:", "blob:"))
        if not is_ours:
            self.outside.append(url)

    def cell(self, at: int) -> Locator:
        """A code cell, from 0."""
        return self.page.locator(".jp-CodeCell").nth(at)

    def output(self, at: int) -> Locator:
        """What is below a cell."""
        return self.cell(at).locator(".jp-Cell-outputArea")

    def start(self, at: int) -> None:
        """Run a cell, and do not wait for it."""
        self.cell(at).locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")

    def run(self, at: int) -> Locator:
        """Run a cell and wait until it has ended; its output."""
        before = self.prompt(at)
        self.start(at)
        expect(self.cell(at).locator(".jp-InputPrompt").first).not_to_have_text(
            before, timeout=PATIENCE_MS
        )
        self.wait_until_ended(at)
        return self.output(at)

    def prompt(self, at: int) -> str:
        """What stands left of a cell: [ ], [*] or [3]."""
        return self.cell(at).locator(".jp-InputPrompt").first.inner_text()

    def wait_until_ended(self, at: int) -> None:
        """Return once the cell has a number."""
        prompt = self.cell(at).locator(".jp-InputPrompt").first
        expect(prompt).to_have_text(NUMBERED, timeout=PATIENCE_MS)

    def restart_kernel(self) -> None:
        """Restart the kernel, as the button does."""
        self.page.get_by_role("button", name=re.compile("Restart the kernel")).first.click()
        self.page.get_by_role("button", name="Confirm Kernel Restart").click()
        self.wait_until_idle()

    def wait_until_idle(self) -> None:
        """Return once a kernel waits for work; the indicator is idle without a kernel too."""
        status = self.page.locator("#jp-main-statusbar")
        expect(status).to_contain_text("(ipykernel) | Idle", timeout=PATIENCE_MS)


def write_notebook(path: Path, *cells: str) -> None:
    """A notebook with these code cells."""
    path.write_text(
        json.dumps(
            {
                "cells": [
                    {
                        "cell_type": "code",
                        "id": f"cell-{at}",
                        "metadata": {},
                        "outputs": [],
                        "execution_count": None,
                        "source": source,
                    }
                    for at, source in enumerate(cells)
                ],
                "metadata": {
                    "kernelspec": {
                        "display_name": "Python 3",
                        "language": "python",
                        "name": "python3",
                    }
                },
                "nbformat": 4,
                "nbformat_minor": 5,
            }
        )
    )
