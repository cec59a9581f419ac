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
        self._listeners: dict[int, tuple[Listener, Callable[[], object] | None]] = {}
        self._guard = threading.Lock()
        self._next = 0
        self.version = 0

    def listen(
        self, listener: Listener, ended: Callable[[], object] | None = None
    ) -> Callable[[], None]:
        """Call `listener` after each commit, and `ended` when none can follow.

        Returns what ends that.
        """
        with self._guard:
            key = self._next
            self._next += 1
            self._listeners[key] = (listener, ended)

        def stop() -> None:
            with self._guard:
                self._listeners.pop(key, None)

        return stop

    def publish(self, change: Change) -> None:
        """Tell everybody."""
        with self._guard:
            self.version = change.version
            listeners = list(self._listeners.values())
        for listener, _ in listeners:
            try:
                listener(change)
            except Exception:  # noqa: BLE001  # a screen's fault must not stop what writes
                _log.exception("a listener of commits raised")

    def close(self) -> None:
        """Tell everybody that no commit will follow."""
        with self._guard:
            listeners = list(self._listeners.values())
            self._listeners.clear()
        for _, ended in listeners:
            if ended is not None:
                ended()

    @property
    def listeners(self) -> int:
        """How many listen."""
        return len(self._listeners)
