"""A door into a running event loop from other threads, for asyncio and trio alike."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import anyio
import anyio.lowlevel

T = TypeVar("T")


class Loop:
    """The event loop that made this object."""

    def __init__(self) -> None:
        self.token = anyio.lowlevel.current_token()
        # An asyncio loop or a TrioToken: two classes, no common type.
        native: Any = self.token.native_token
        self._native = native
        self._post: Callable[..., object] = (
            native.call_soon_threadsafe
            if hasattr(native, "call_soon_threadsafe")
            else native.run_sync_soon
        )

    def post(self, call: Callable[[], object]) -> bool:
        """Run `call` soon on the loop; False where the loop has ended."""
        try:
            self._post(call)
        except RuntimeError:  # both backends: the loop is closed
            return False
        return True

    def is_current(self) -> bool:
        """Whether the caller runs on this loop."""
        try:
            token = anyio.lowlevel.current_token()
        except RuntimeError:  # no event loop in this thread
            return False
        return token.native_token is self._native


async def result_of(future: "Future[T]") -> T:
    """Await a future that another thread completes; cancelling the wait leaves the work going."""
    if not future.done():
        arrived = anyio.Event()
        loop = Loop()
        future.add_done_callback(lambda _: loop.post(arrived.set))
        await arrived.wait()
    else:
        await anyio.lowlevel.checkpoint()
    return future.result()
