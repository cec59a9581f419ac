"""A shop with an app, its dashboard, and a browser that complains of what nobody sees."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, expect

from rxferrix_lab import RxFerrix
from tests.browser.shop import make_shop

READY = "Bokeh app running at"
# What the browser says of a server that is killed, and of none.
GONE = (
    *("ERR_CONNECTION", "Lost websocket", "WebSocket", "Failed to load resource"),
    "not connected so cannot send",
)


class Complaints:
    """What a page must not do: errors in its console, and requests that leave this machine."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.allowed: tuple[str, ...] = ()

    def watch(self, page: Page) -> None:
        """Listen to a page from now on."""
        page.on("console", self._said)
        page.on("pageerror", lambda error: self._note(f"page error: {error}"))
        page.on("request", self._asked)
        page.on("dialog", lambda dialog: self._note(f"a dialog opened: {dialog.message}"))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self._note(f"console: {message.text}")

    def _asked(self, request: Request) -> None:
        here = ("http://localhost:", "http://127.0.0.1:", "ws://localhost:", "ws://127.0.0.1:")
        if not request.url.startswith((*here, "data:", "blob:")):
            self._note(f"request to {request.url}")

    def _note(self, text: str) -> None:
        if not any(word in text for word in self.allowed):
            self.found.append(text)


@pytest.fixture
def complaints(page: Page) -> Iterator[Complaints]:
    """Fails the test if the page did what it must not."""
    page.set_default_timeout(30_000)
    heard = Complaints()
    heard.watch(page)
    yield heard
    assert heard.found == []


@pytest.fixture
def free_port() -> int:
    """A port that nobody listens on."""
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture
def shop() -> Iterator[RxFerrix]:
    """The app, running."""
    app = make_shop(":memory:")
    app.start()
    yield app
    app.stop()


@pytest.fixture
def url(shop: RxFerrix, free_port: int) -> Iterator[str]:
    """Its dashboard, served from this process."""
    served = shop.serve(free_port)
    yield served.url
    served.stop()


class Server:
    """`panel serve dashboard` in a process of its own."""

    def __init__(self, port: int, folder: Path, checkout: Path) -> None:
        self.url = f"http://localhost:{port}/dashboard"
        self._port = port
        self._folder = folder
        self._checkout = checkout
        self._process: subprocess.Popen[str] | None = None

    def start(self, *options: str, target: str = "tests.browser.shop:app", **env: str) -> None:
        """Start it, and return once it answers."""
        command = [sys.executable, "-m", "panel", "serve", str(self._checkout / "dashboard")]
        self._process = subprocess.Popen(
            [*command, "--port", str(self._port), *options, "--args", target],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._folder,
            env={**os.environ, "PYTHONPATH": str(self._checkout), "SHOP": str(self._folder), **env},
        )
        assert self._process.stdout is not None
        seen: list[str] = []
        for line in self._process.stdout:
            seen.append(line)
            if READY in line:
                return
        raise AssertionError(f"the server did not start:\n{''.join(seen)}")

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture
def server(free_port: int, tmp_path: Path, checkout: Path) -> Iterator[Server]:
    """A server that the test starts."""
    made = Server(free_port, tmp_path, checkout)
    yield made
    made.kill()


@pytest.fixture
def opened(page: Page, url: str, complaints: Complaints) -> Callable[[str], Page]:
    """Opens a section of the dashboard and waits until it is drawn."""
    del complaints

    def go(query: str = "section=jobs") -> Page:
        page.goto(f"{url}?{query}")
        page.get_by_text("LIVE", exact=True).wait_for()
        expect(page.get_by_text("Loading…")).to_have_count(0)
        return page

    return go
