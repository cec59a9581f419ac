"""A view alone in a notebook's cell, kept up to date there.

One thread refreshes what all cells show, so a busy cell stops none of them, and no model is written
from two threads. A view that no cell shows any more is forgotten with its model.
"""

import logging
import os
import threading
from collections.abc import Callable
from weakref import WeakSet, finalize

import panel as pn

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel

View = Callable[[LiveModel, Controls], pn.viewable.Viewable]
_loaded = threading.Event()
_log = logging.getLogger(__name__)


def in_cell(view: View, model: LiveModel, zone: str = "UTC") -> pn.viewable.Viewable:
    """The view with instants in the zone; it follows the model for as long as a cell shows it."""
    if not _loaded.is_set():
        # From the package's own files, so that nothing is fetched: the scripts by the argument, the
        # style sheets of what is drawn later by the variable.
        os.environ.setdefault("PANEL_INLINE", "true")
        pn.extension(inline=True)
        _loaded.set()
    layout = pn.Column(view(model, Controls(zone=zone)), sizing_mode="stretch_width", margin=0)
    _refresher.add(_Followed(layout, model))
    return layout


class _Followed:
    """A model on show. The layout keeps it alive, and nothing else does."""

    def __init__(self, layout: pn.Column, model: LiveModel) -> None:
        self.model = model
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
                _refresh(one.model)
            del followed


def _refresh(model: LiveModel) -> None:
    try:
        model.refresh()
    except Exception:  # noqa: BLE001  # one cell's fault must not stop the others
        _log.exception("a view in a cell could not be brought up to date")


_refresher = _Refresher()
