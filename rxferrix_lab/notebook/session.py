"""The app of a notebook: found in its namespace or made there, and started."""

from __future__ import annotations

import os
from collections.abc import MutableMapping
from datetime import timedelta
from pathlib import Path

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.errors import DatabaseInUseError, RxFerrixError
from rxferrix_lab.notebook.notebook_file import database_beside

# Jupyter kills a kernel five seconds after it asked it to end; a clean stop has to fit into that.
GRACE = timedelta(seconds=3)
NAME = "app"
SPARE_NAME = "rx_app"  # where `app` is something of the user's


class Session:
    """Which app the magics speak of."""

    def __init__(self, namespace: MutableMapping[str, object]) -> None:
        self._namespace = namespace
        self._made: RxFerrix | None = None  # the one that `start` made

    @property
    def app(self) -> RxFerrix:
        """The app of the notebook.

        Raises:
            RxFerrixError: if there is none yet.
        """
        found = self._found()
        if found is None:
            raise RxFerrixError("there is no app in this notebook yet: %rxferrix start makes one")
        return found

    @property
    def running_app(self) -> RxFerrix:
        """The same, if it runs.

        Raises:
            RxFerrixError: if it does not, with what to type.
        """
        app = self.app
        if not app.is_running:
            raise RxFerrixError("the app is stopped: %rxferrix start starts it")
        return app

    def _found(self) -> RxFerrix | None:
        for name in (NAME, SPARE_NAME):
            found = self._namespace.get(name)
            if isinstance(found, RxFerrix):
                return found
        return None

    def start(self, file: str | None = None) -> str:
        """Start the notebook's app, made where there is none; what to tell the user.

        Raises:
            RxFerrixError: if another file is asked for while an app with functions is here.
        """
        app = self._found()
        if app is not None and file is not None and not _is_same(app.database, file):
            self._make_way(app, file)
            app = None
        if app is not None:
            was_running = app.is_running
            return _started(app, "already running" if was_running else "running", NAME)
        name = SPARE_NAME if NAME in self._namespace and self._made is None else NAME
        database = file or database_beside(os.environ, self._namespace)
        app = RxFerrix(database, interactive=True, grace=GRACE)
        self._namespace[name] = self._made = app
        return _started(app, "running", name)

    def _make_way(self, app: RxFerrix, file: str) -> None:
        """Give up an empty app that `start` made itself, and no other."""
        registry = app.registry
        has_own = registry.functions or registry.crons or registry.pools or registry.tables
        if app is not self._made or has_own:
            raise RxFerrixError(
                f"the app of this notebook is kept in {app.database} and stays there; for another "
                f'file restart the kernel and begin with: app = RxFerrix("{file}"), then '
                "%load_ext rxferrix_lab"
            )
        app.stop()
        for name in [name for name, value in self._namespace.items() if value is app]:
            del self._namespace[name]

    def stop(self) -> str:
        """Stop the app cleanly; what to tell the user."""
        app = self.app
        if not app.is_running:
            return f"{app.database} is stopped already"
        app.stop()
        return f"{app.database} is stopped; what is scheduled waits in it until %rxferrix start"


def _started(app: RxFerrix, state: str, name: str) -> str:
    try:
        app.start()
    except DatabaseInUseError as error:
        raise RxFerrixError(
            f"{error}. In Jupyter: shut that kernel down (Running Terminals and Kernels), then run "
            "this cell again; or keep this notebook's app elsewhere: %rxferrix start other.duckdb"
        ) from error
    where = app.database if str(app.database) == ":memory:" else Path(app.database).resolve()
    note = "" if name == NAME else f"; `{NAME}` is yours and was left alone, so it is `{name}`"
    return f"{name}: {state}, kept in {where}{note}{_waiting(app)}"


def _waiting(app: RxFerrix) -> str:
    """Which stored crons have no function yet, as after a restart of the kernel."""
    waiting = [cron.record.name for cron in app.model().crons if cron.is_dormant]
    if not waiting:
        return ""
    return f"\nrun their cells again, and these go on: {', '.join(waiting)}"


def _is_same(database: str | Path, file: str) -> bool:
    return str(database) == file or Path(database).resolve() == Path(file).resolve()
