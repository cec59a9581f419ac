"""Loading again whenever something changed, one load at a time."""

from collections.abc import Awaitable, Callable

from rxferrix_lab.views.grid import run_callback


class Reloading:
    """Runs `load` on the session's loop; what is asked meanwhile is loaded once, after it."""

    def __init__(self, load: Callable[[], Awaitable[None]]) -> None:
        self._load = load
        self._is_loading = self._is_stale = False

    def soon(self) -> None:
        """Load now, or once more after the load that goes on."""
        run_callback(self.whole)

    async def whole(self) -> None:
        """Load until nothing has changed since; returns at once where another load goes on."""
        self._is_stale = True
        if self._is_loading:
            return
        self._is_loading = True
        try:
            while self._is_stale:
                self._is_stale = False
                await self._load()
        finally:
            self._is_loading = False
