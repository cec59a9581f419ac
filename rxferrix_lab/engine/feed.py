"""Who wants to know of commits.

Listeners are called after each commit on the writer's thread, so they must be quick and never
raise: they pass the news on to a thread of their own.
"""

import logging
import threading
from collections.abc import Callable

from rxferrix_lab.engine.writer import Change

Listener = Callable[[Change], None]
_log = logging.getLogger(__name__)


class Feed:
    """Tells listeners of each change. Thread-safe."""

    def __init__(self) -> None:
        self._listeners: dict[int, Listener] = {}
        self._guard = threading.Lock()
        self._next = 0
        self.version = 0

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` after each commit; returns what ends that."""
        with self._guard:
            key = self._next
            self._next += 1
            self._listeners[key] = listener

        def stop() -> None:
            with self._guard:
                self._listeners.pop(key, None)

        return stop

    def publish(self, change: Change) -> None:
        """Tell everybody."""
        with self._guard:
            self.version = change.version
            listeners = list(self._listeners.values())
        for listener in listeners:
            try:
                listener(change)
            except Exception:  # noqa: BLE001  # a screen's fault must not stop what writes
                _log.exception("a listener of commits raised")
