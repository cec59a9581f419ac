"""A query's result as a param object that follows the commits.

One thread for each, which alone writes `value`; it ends with `stop`, with the app, or when nobody
holds the object any more.
"""

import threading
import weakref
from collections.abc import Callable
from typing import Any

import param

from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.engine.writer import Change
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.storage.store import DatabaseError

FRAME_S = 0.25
GLANCE_S = 1.0  # how soon an object that nobody holds is noticed

Bound = Callable[[set[str]], Any]  # runs the query; adds the tables that it read to the set


class LiveQuery(param.Parameterized):
    """A value that follows the commits."""

    value = param.Parameter(doc="The query's result after the last commit that changed it.")
    error = param.Parameter(default=None, doc="What the query raised last; None where it did not.")

    def __init__(self, news: "TableNews", **values: object) -> None:
        super().__init__(**values)  # type: ignore[no-untyped-call]  # the constructor is param's
        self._news = news

    @classmethod
    def of(cls, runtime: Runtime, bound: Bound) -> "LiveQuery":
        """Run the query once, here, and follow it from then on.

        Raises:
            Exception: whatever the query raises the first time.
        """
        news = TableNews()
        stop_listening = runtime.engine.feed.listen(news.hear)
        tables: set[str] = set()
        try:
            live = cls(news, value=runtime.read_soon(lambda: bound(tables)).result())
        except BaseException:
            stop_listening()
            raise
        follower = _Follower(weakref.ref(live), bound, tables, news, runtime, stop_listening)
        threading.Thread(target=follower.run, name="rxferrix-live", daemon=True).start()
        return live

    def stop(self) -> None:
        """Follow no longer; the value stays."""
        self._news.end()


class TableNews:
    """Which tables changed since they were last asked for. Thread-safe."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._tables: set[str] = set()
        self._has_ended = False

    def hear(self, change: Change) -> None:
        """Take note of a commit; on the writer's thread."""
        with self._condition:
            self._tables |= change.tables
            self._condition.notify_all()

    def end(self) -> None:
        """Nobody wants to know any more."""
        with self._condition:
            self._has_ended = True
            self._condition.notify_all()

    @property
    def has_ended(self) -> bool:
        """Whether nobody wants to know any more."""
        return self._has_ended

    def wait(self, tables: set[str], seconds: float) -> bool:
        """Wait until one of these tables changed, so long at most; whether one did."""
        wanted = tables | {"*"}
        with self._condition:
            self._condition.wait_for(lambda: self._has_ended or self._tables & wanted, seconds)
            has_changed = bool(self._tables & wanted)
            self._tables.clear()
            return has_changed and not self._has_ended

    def pause(self, seconds: float) -> None:
        """Let some time pass, unless it ends."""
        with self._condition:
            self._condition.wait_for(lambda: self._has_ended, seconds)


class _Follower:
    """The thread of one live query; holds it weakly, so that dropping it is enough."""

    def __init__(
        self,
        live: "weakref.ref[LiveQuery]",
        bound: Bound,
        tables: set[str],
        news: TableNews,
        runtime: Runtime,
        stop_listening: Callable[[], None],
    ) -> None:
        self._live = live
        self._bound = bound
        self._tables = tables
        self._news = news
        self._runtime = runtime
        self._stop_listening = stop_listening

    def run(self) -> None:
        """Follow until the end."""
        try:
            while not self._news.has_ended and self._live() is not None:
                if not self._runtime.engine.store.is_open:
                    return
                if self._news.wait(self._tables, GLANCE_S):
                    self._look()
                    self._news.pause(FRAME_S)
        finally:
            self._stop_listening()

    def _look(self) -> None:
        tables: set[str] = set()
        try:
            value, error = self._bound(tables), None
            self._tables = tables
        except (RxFerrixError, DatabaseError) as raised:
            value, error = None, raised
        live = self._live()
        if live is None:
            return
        if error is not None:
            live.error = error
        else:
            live.param.update(value=value, error=None)
