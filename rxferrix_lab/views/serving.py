"""The dashboard of a running app, from its own process and in a thread of its own."""

import socket
import threading
from html import escape
from typing import Any

import panel as pn

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.views.hosting import Hosted
from rxferrix_lab.views.page import page_of

PATH = "dashboard"


class ServedPage:
    """A server of one app's page; `stop` ends it, and leaves the app alone."""

    def __init__(self, app: RxFerrix, port: int, address: str) -> None:
        host = Hosted("app", app)
        self.url = f"http://{address}:{port}/{PATH}"
        self._thread: Any = pn.serve(
            {PATH: lambda: page_of(host)},
            port=port,
            address=address,
            show=False,
            verbose=False,
            threaded=True,
            websocket_origin=[f"{address}:{port}", f"localhost:{port}", f"127.0.0.1:{port}"],
        )

        self._wait_until_it_answers(address, port)

    def _wait_until_it_answers(self, address: str, port: int) -> None:
        pause = threading.Event()
        while self._thread.is_alive():
            try:
                socket.create_connection((address, port), timeout=1).close()
            except OSError:
                pause.wait(0.02)
            else:
                return
        raise OSError(f"the dashboard cannot listen on {address}:{port}; choose another port")

    def stop(self) -> None:
        """Answer no longer."""
        self._thread.stop()
        self._thread.join(5)

    def _repr_html_(self) -> str:
        url = escape(self.url)
        return f'the dashboard of this app: <a href="{url}" target="_blank">{url}</a>'


def serve(app: RxFerrix, port: int, address: str) -> ServedPage:
    """Serve the app's page."""
    return ServedPage(app, port, address)


def free_port() -> int:
    """A port of this machine that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
