"""A view alone in a notebook's cell, kept up to date there.

What all cells show is refreshed on the kernel's loop, as their callbacks are; only while a cell
keeps that busy, one thread does it instead. A view that no cell shows is forgotten with its model.
"""

import logging
import os
import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakSet, finalize

import panel as pn
from panel.io import notebook

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel

View = Callable[[LiveModel, Controls], pn.viewable.Viewable]
Soon = Callable[[Callable[[], None]], object]  # runs something on the kernel's loop, in its turn
BUSY_S = 0.3  # a loop that has not taken a call by then runs a cell
_loaded = threading.Event()
_log = logging.getLogger(__name__)


def in_cell(
    view: View, model: LiveModel, zone: str = "UTC", soon: Soon | None = None
) -> pn.viewable.Viewable:
    """The view with instants in the zone; it follows the model for as long as a cell shows it.

    Args:
        view: makes it.
        model: what it shows.
        zone: an IANA zone.
        soon: the kernel's loop; None where there is none.
    """
    if not _loaded.is_set():
        # From the package's own files, so that nothing is fetched: the scripts by the argument, the
        # style sheets of what is drawn later by the variable.
        os.environ.setdefault("PANEL_INLINE", "true")
        pn.extension(inline=True)
        _send_whole_messages()
        _loaded.set()
    layout = pn.Column(view(model, Controls(zone=zone)), sizing_mode="stretch_width", margin=0)
    _refresher.add(_Followed(layout, model, soon))
    return layout


class _Followed:
    """A model on show. The layout keeps it alive, and nothing else does."""

    def __init__(self, layout: pn.Column, model: LiveModel, soon: Soon | None) -> None:
        self.model = model
        self.soon = soon
        vars(layout)["rxferrix_followed"] = self
        finalize(self, model.follow(_refresher.wake))


class _Refresher:
    """The thread that refreshes models. Owns no model."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._followed: WeakSet[_Followed] = WeakSet()  # guarded by _guard
        self._news = threading.Event()
        self._is_running = False

    def wake(self) -> None:
        """There may be news."""
        self._news.set()

    def add(self, followed: _Followed) -> None:
        """Keep it up to date."""
        with self._guard:
            self._followed.add(followed)
            if self._is_running:
                return
            self._is_running = True
        threading.Thread(target=self._work, name="rxferrix-cells", daemon=True).start()

    def _work(self) -> None:
        while True:
            self._news.wait()
            self._news.clear()
            with self._guard:
                followed = list(self._followed)
                if not followed:
                    self._is_running = False
                    return
            for one in followed:
                _Turn(one.model).give(one.soon)
            del followed


class _Turn:
    """One refresh of a model, by whoever comes to it first: the kernel's loop, or the thread."""

    def __init__(self, model: LiveModel) -> None:
        self._model = model
        self._claim = threading.Lock()
        self._has_begun = threading.Event()
        self._is_done = threading.Event()

    def give(self, soon: Soon | None) -> None:
        """Have it done, on the loop if that is free; returns when it is."""
        if soon is not None:
            soon(self.take)
            self._has_begun.wait(BUSY_S)
        self.take()
        self._is_done.wait()

    def take(self) -> None:
        """Do it, unless somebody did or does."""
        if not self._claim.acquire(blocking=False):
            return
        self._has_begun.set()
        try:
            self._model.refresh()
        except Exception:  # noqa: BLE001  # one cell's fault must not stop the others
            _log.exception("a view in a cell could not be brought up to date")
        finally:
            self._is_done.set()


def _send_whole_messages() -> None:
    """Panel sends a message in parts, which those of another thread would tear apart for good."""
    panel_notebook: Any = notebook
    send, turn = panel_notebook.send, threading.Lock()

    def send_whole(comm: object, message: object) -> None:
        with turn:
            send(comm, message)

    panel_notebook.send = send_whole


_refresher = _Refresher()
