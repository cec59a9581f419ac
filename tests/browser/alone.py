"""One view of a running app, served by itself, for tests that look at it in a browser."""

import re
import socket
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread

import panel as pn
from panel.io.threads import StoppableThread
from panel_material_ui.template.base import Page as WholePage
from playwright.sync_api import ConsoleMessage, Dialog, Locator, Page, Request

from rxferrix_lab import RxFerrix
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.views.following import follow
from tests.browser.jupyter import free_port

View = Callable[[LiveModel, Controls], pn.viewable.Viewable]


@contextmanager
def served(app: RxFerrix, view: View, zone: str = "UTC") -> Generator[str]:
    """The running app's view at an address of this machine."""
    port = free_port()

    def page() -> pn.viewable.Viewable:
        pn.extension(notifications=True)
        model, controls = app.model(), Controls(zone=zone)
        document = pn.state.curdoc
        assert document is not None
        follow(model, document, model.refresh)
        whole: pn.viewable.Viewable = WholePage(title="alone", main=[view(model, controls)])
        return whole

    server = pn.serve(  # pyright: ignore[reportUnknownMemberType]  # panel types it half
        {"view": page}, port=port, address="127.0.0.1", show=False, threaded=True, verbose=False
    )
    assert isinstance(server, StoppableThread)
    try:
        wait_until_listening(port, server)
        yield f"http://127.0.0.1:{port}/view"
    finally:
        server.stop()


def wait_until_listening(port: int, server: Thread) -> None:
    """Return once the server takes connections."""
    while server.is_alive():
        try:
            with socket.create_connection(("127.0.0.1", port)):
                return
        except OSError:
            continue
    raise RuntimeError("the server ended")


def menu_item(page: Page, text: str) -> Locator:
    """The choice of an open select box that begins with this text."""
    return page.locator(".MuiMenuItem-root").filter(has_text=re.compile(f"^{re.escape(text)}"))


@dataclass
class Watch:
    """What a page did that it must not do. Owned by the test; the browser's callbacks write it."""

    errors: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    @classmethod
    def over(cls, page: Page) -> "Watch":
        """Watch this page from now on."""
        watch = cls()

        def console(message: ConsoleMessage) -> None:
            if message.type == "error":
                watch.errors.append(message.text)

        def request(asked: Request) -> None:
            if not asked.url.startswith(("http://127.0.0.1", "ws://127.0.0.1", "data:", "blob:")):
                watch.outside.append(asked.url)

        def dialog(shown: Dialog) -> None:
            watch.dialogs.append(shown.message)
            shown.dismiss()

        page.on("console", console)
        page.on("pageerror", lambda error: watch.errors.append(str(error)))
        page.on("request", request)
        page.on("dialog", dialog)
        return watch

    def saw_nothing(self) -> bool:
        """Whether there was no error, no dialog and no request to another machine."""
        return not (self.errors or self.outside or self.dialogs)
