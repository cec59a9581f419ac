"""The dashboard of an app that runs in this very process, as in a notebook's kernel.

Answers only this machine, in a thread of its own, until it is stopped or the process ends.
"""

import socket
import threading
from dataclasses import dataclass
from html import escape
from typing import Any

import panel as pn

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.views.hosting import Hosted
from rxferrix_lab.views.page import page_of

HERE = "127.0.0.1"
LOOKS = 100
LOOK_S = 0.1


@dataclass(frozen=True, slots=True)
class LocalDashboard:
    """A dashboard that answers.

    Attributes:
        url: its address.
    """

    url: str
    _server: Any

    def stop(self) -> None:
        """Stop serving it; the app goes on."""
        self._server.stop()

    def _repr_html_(self) -> str:
        url = escape(self.url)
        return f'the dashboard of this app: <a href="{url}" target="_blank">{url}</a>'


def serve_locally(app: RxFerrix, port: int | None = None) -> LocalDashboard:
    """Serve the dashboard of a running app; returns once it answers.

    Raises:
        OSError: if the port is taken.
    """
    port = port if port is not None else _free_port()
    host = Hosted("this app", app)
    server = pn.serve(
        {"dashboard": lambda: page_of(host)},
        port=port,
        address=HERE,
        websocket_origin=[f"{HERE}:{port}", f"localhost:{port}"],
        show=False,
        threaded=True,
        verbose=False,
    )
    _wait_until_answering(port)
    return LocalDashboard(f"http://{HERE}:{port}/dashboard", server)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind((HERE, 0))
        port: int = listener.getsockname()[1]
        return port


def _wait_until_answering(port: int) -> None:
    never = threading.Event()
    for look in range(LOOKS):
        try:
            socket.create_connection((HERE, port)).close()
        except OSError:
            if look == LOOKS - 1:
                raise
            never.wait(LOOK_S)
        else:
            return
