"""One hub for each running app: it takes the pictures, and wakes whoever follows.

However many sessions follow, the app is read once for all of them, by one thread, at most four
times a second; without a follower there is no thread and no listener. Followers are woken on that
thread, so they must be quick and only pass the news on.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar
from weakref import WeakValueDictionary

from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.engine.clock import stopwatch_s
from rxferrix_lab.engine.writer import Change
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.reactive.photographer import Photographer
from rxferrix_lab.reactive.picture import Picture
from rxferrix_lab.storage.store import DatabaseError

FRAME_S = 0.25
AT_FULL_RATE = 8  # followers; more are woken less often, for each costs a drawing
TURN_S = FRAME_S / AT_FULL_RATE
TABLES_S = 1.0
GLANCE_S = 0.5  # how often the progress of running actions is looked at
HEARTBEAT_S = 2.0
REST = 8  # times as long as a picture took, the thread rests: a large table must not eat a core
LONGEST_REST_S = 1.5
T = TypeVar("T")
Wake = Callable[[], object]


class Hub:
    """Takes pictures of one runtime while somebody follows. Thread-safe."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.picture = Picture()
        self._photographer = Photographer(runtime)
        self._camera = threading.Lock()  # one picture at a time
        self._news = threading.Condition()
        self._followers: dict[int, Wake] = {}  # guarded by _news, as is all below
        self._next = 0
        self._has_changed = True
        self._thread: threading.Thread | None = None

    @staticmethod
    def of(runtime: Runtime) -> "Hub":
        """The hub of a runtime; it lives as long as somebody holds it."""
        with _guard:
            hub = _hubs.get(id(runtime))
            if hub is None or hub.runtime is not runtime:
                hub = _hubs[id(runtime)] = Hub(runtime)
            return hub

    # --- following ------------------------------------------------------------------------------
    def follow(self, wake: Wake) -> Callable[[], None]:
        """Call `wake` on the hub's thread after each new picture; returns what ends that."""
        with self._news:
            key = self._next
            self._next += 1
            self._followers[key] = wake
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._watch, name="rxferrix-hub", daemon=True
                )
                self._thread.start()

        def stop() -> None:
            with self._news:
                self._followers.pop(key, None)
                self._news.notify_all()

        return stop

    @property
    def followers(self) -> int:
        """How many follow."""
        return len(self._followers)

    @property
    def has_thread(self) -> bool:
        """Whether pictures come by themselves."""
        return self._thread is not None

    def _watch(self) -> None:
        stop_listening = self.runtime.engine.feed.listen(self._hear)
        try:
            tables_at = beat_at = 0.0
            progress = -1
            while (reason := self._wait(beat_at)) != "end":
                began = stopwatch_s()
                told = self.runtime.engine.vitals.progress_told
                if reason == "glance" and told == progress:
                    continue
                progress, beat_at = told, began
                with_tables = began - tables_at >= TABLES_S
                tables_at = began if with_tables else tables_at
                self.take(with_tables=with_tables)
                took = stopwatch_s() - began
                self._wake_all()
                if self.runtime.has_ended and self.picture.health.problem:
                    self._let_go()  # they have been told, and there is no more to tell
                spent = stopwatch_s() - began
                rest_s = min(max(FRAME_S, took * REST), LONGEST_REST_S) - spent
                self._rest(max(rest_s, 0.0), is_owed=not with_tables)
        finally:
            stop_listening()

    def _wait(self, beat_at: float) -> str:
        """Why to look again: news, a heartbeat, a glance at what runs; or the end of it."""
        with self._news:
            self._news.wait_for(lambda: self._has_changed or not self._followers, GLANCE_S)
            if not self._followers:
                self._thread = None
                self._has_changed = True
                return "end"
            if self._has_changed:
                self._has_changed = False
                return "news"
        return "heartbeat" if stopwatch_s() - beat_at >= HEARTBEAT_S else "glance"

    def _rest(self, seconds: float, *, is_owed: bool) -> None:
        with self._news:
            self._news.wait_for(lambda: not self._followers, seconds)
            # The tables were not looked at in this frame; what changed in them is still owed.
            self._has_changed = self._has_changed or is_owed

    def _hear(self, change: Change) -> None:
        """On the writer's thread."""
        del change
        with self._news:
            self._has_changed = True
            self._news.notify_all()

    def _wake_all(self) -> None:
        """Wake the followers one after the other, so that no job waits for all their drawings."""
        with self._news:
            keys = list(self._followers)
        for turn, key in enumerate(keys):
            with self._news:
                if turn:
                    self._news.wait_for(lambda: not self._followers, TURN_S)
                wake = self._followers.get(key)
            if wake is not None:
                wake()

    def _let_go(self) -> None:
        with self._news:
            self._followers.clear()

    # --- pictures -------------------------------------------------------------------------------
    def take(self, *, with_tables: bool = True) -> Picture:
        """Take a picture now, on the caller's thread; or the last with a problem."""
        with self._camera:
            try:
                self.picture = self._photographer.take(with_tables=with_tables)
            except (RxFerrixError, DatabaseError) as error:
                health = replace(self.picture.health, is_running=False, problem=str(error))
                self.picture = replace(self.picture, health=health)
            return self.picture


_hubs: "WeakValueDictionary[int, Hub]" = WeakValueDictionary()
_guard = threading.Lock()
