"""The app behind the pages of a server: found by name, started once, stopped at the end.

What goes wrong is kept for the page to show, which tries again whenever somebody opens it.
"""

import importlib
import logging
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

import panel as pn

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.errors import RxFerrixError

SAMPLE_APP = "dashboard.demo:app"
CACHE_KEY = "rxferrix-hosted"
TURN_S = 0.0001  # how long a page's thread may keep the interpreter from the engine's; else 5 ms
_log = logging.getLogger(__name__)


class Hosted:
    """One app of a server. Thread-safe."""

    def __init__(self, target: str, app: RxFerrix | None = None) -> None:
        self.target = target
        self.problem: str = ""  # what stopped the app from starting; empty where nothing did
        self.is_import_failure = False
        self._app = app
        self._owns = app is None
        self._guard = threading.Lock()

    def running(self) -> RxFerrix | None:
        """The app, started if need be; None where it cannot be, and `problem` says why."""
        sys.setswitchinterval(min(sys.getswitchinterval(), TURN_S))
        with self._guard:
            if self._app is not None and self._app.is_running:
                return self._app
            self.problem = ""
            self._app = self._app or self._imported()
            return self._started(self._app) if self._app is not None else None

    def adopt(self, app: RxFerrix) -> None:
        """Take this app for the one that is named, to be started and stopped with the server."""
        self._app, self._owns = app, True

    def stop(self) -> None:
        """Stop the app, if the server started it."""
        with self._guard:
            if self._app is not None and self._owns:
                self._app.stop()

    def _imported(self) -> RxFerrix | None:
        found = self._found()
        if found is None:
            _log.error("the app %s could not be imported:\n%s", self.target, self.problem)
        return found

    def _found(self) -> RxFerrix | None:
        self.is_import_failure = True
        module, _, name = self.target.partition(":")
        try:
            found = getattr(importlib.import_module(module), name or "app")
        except Exception:  # noqa: BLE001  # whatever the user's module raises belongs on the page
            self.problem = _end_of(traceback.format_exc())
            return None
        if not isinstance(found, RxFerrix):
            self.problem = f"{self.target} is {found!r:.200}, not a RxFerrix app"
            return None
        self.is_import_failure = False
        return found

    def _started(self, app: RxFerrix) -> RxFerrix | None:
        if not self._owns:
            self.problem = "The app is not running; it begins with app.run() or app.start()."
            return None
        try:
            return app.start()
        except (RxFerrixError, OSError) as error:
            self.problem = str(error)
            _log.error("the app %s could not be started: %s", self.target, self.problem)
            return None


def hosted(argv: list[str], folder: Path) -> Hosted:
    """The app of this server, made from the command line the first time it is asked for.

    Args:
        argv: what follows `--args`, or the whole command line.
        folder: where `panel serve` runs the pages from; its parent is importable, as is the working
            folder.
    """
    for path in (str(Path.cwd()), str(folder.parent)):
        if path not in sys.path:
            sys.path.insert(0, path)
    made: Any = pn.state.as_cached(CACHE_KEY, lambda: Hosted(target_in(argv)))
    return made  # type: ignore[no-any-return]  # what the line above made


def target_in(argv: list[str]) -> str:
    """`module:app` of a command line; the sample app where there is none.

    >>> target_in(["panel", "serve", "dashboard", "--args", "shop.jobs:app"])
    'shop.jobs:app'
    >>> target_in(["panel", "serve", "dashboard", "--port", "5007"])
    'dashboard.demo:app'
    """
    after = argv[argv.index("--args") + 1 :] if "--args" in argv else argv[1:]
    is_server = "--args" not in argv and "serve" in argv
    named = [word for word in after if not word.startswith("-")]
    return SAMPLE_APP if is_server or not named else named[0]


def _end_of(text: str, lines: int = 12) -> str:
    return "\n".join(text.strip().splitlines()[-lines:])
