"""A session follows the app: pictures arrive on the session's own loop, a few times a second.

One subscription for each session. However many pictures come, one callback waits at a time; a
session that ends leaves nothing behind. Drawing begins when the browser says that it has the page:
what is held before that, panel drops, and the page would stay as it was.
"""

import threading
from collections.abc import Callable

import panel as pn
from bokeh.document import Document
from panel.io.document import hold

from rxferrix_lab.reactive.model import LiveModel


def follow(model: LiveModel, document: Document, drawn: Callable[[], object]) -> Callable[[], None]:
    """Call `drawn` on the session's loop whenever the model may have news; returns what ends that.

    Args:
        model: only asked to be followed; `drawn` refreshes what is open.
        document: the session's, whose callbacks are the only thread-safe door.
        drawn: changes the page.
    """
    guard = threading.Lock()
    is_pending = has_ended = False

    def wake() -> None:
        nonlocal is_pending
        with guard:
            if is_pending or has_ended:
                return
            is_pending = True
        document.add_next_tick_callback(drain)

    def drain() -> None:
        nonlocal is_pending
        with guard:
            is_pending = False
        if not has_ended:
            with hold(document):
                drawn()

    ends: list[Callable[[], None]] = []

    def begin() -> None:
        if not has_ended:
            ends.append(model.follow(wake))
            wake()

    def stop() -> None:
        nonlocal has_ended
        has_ended = True
        while ends:
            ends.pop()()

    def ended(session_context: object) -> None:
        del session_context
        stop()

    document.on_session_destroyed(ended)
    pn.state.onload(begin)
    return stop
