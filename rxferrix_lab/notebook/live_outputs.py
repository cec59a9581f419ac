"""Shows jobs in cells, and keeps what is shown up to date until each job has ended.

One thread writes to all cells. Only a kernel's front end can replace an output; a console is
written to once.
"""

import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from IPython.core.getipython import get_ipython

from rxferrix_lab.app.job_handle import JobHandle
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.notebook.job_card import job_html, job_text

Bundle = dict[str, str]
SHORTEST_GAP_S = 0.2  # between two updates: nobody reads faster
LONGEST_GAP_S = 0.5  # progress and output are told without a commit


def bundle_of(handle: JobHandle) -> tuple[Bundle, bool]:
    """What shows the job now, and whether it will stay like this."""
    look = handle.glance()
    return {"text/plain": job_text(look), "text/html": job_html(look)}, look.is_finished


def show_handle(handle: JobHandle) -> None:
    """Show a job in the current cell, live until it has ended."""
    bundle, is_final = bundle_of(handle)
    if is_final or not _can_replace():
        _publish(bundle)
        return
    display_id = uuid4().hex
    _publish(bundle, transient={"display_id": display_id})
    _outputs.follow(_Shown(handle, display_id, bundle, contextvars.copy_context()))


def _publish(bundle: Bundle, **settings: Any) -> None:  # noqa: ANN401  # IPython's own
    shell: Any = get_ipython()
    shell.display_pub.publish(data=bundle, metadata={}, **settings)


def _can_replace() -> bool:
    return getattr(get_ipython(), "kernel", None) is not None


@dataclass(slots=True)
class _Shown:
    """An output that follows a job. Owned by the thread of `_LiveOutputs`."""

    handle: JobHandle
    display_id: str
    bundle: Bundle
    context: contextvars.Context  # of the cell, which the front end knows the output by

    def refresh(self) -> bool:
        """Send what changed; True if nothing will change any more."""
        try:
            bundle, is_final = bundle_of(self.handle)
        except (RxFerrixError, RuntimeError):  # the app has stopped, or the job is gone
            return True
        if bundle != self.bundle:
            self.bundle = bundle
            self.context.run(self._send)
        return is_final

    def _send(self) -> None:
        _publish(self.bundle, transient={"display_id": self.display_id}, update=True)


class _LiveOutputs:
    """The outputs that still change, and the thread that changes them, which ends with them."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._shown: list[_Shown] = []  # guarded by _guard
        self._thread: threading.Thread | None = None
        self._news = threading.Event()
        self._never = threading.Event()

    def follow(self, shown: _Shown) -> None:
        """Keep an output up to date."""
        with self._guard:
            self._shown.append(shown)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="rxferrix-display", daemon=True
                )
                self._thread.start()
        self._news.set()

    def _work(self) -> None:
        listening: dict[str, Callable[[], None]] = {}
        while shown := self._following():
            self._news.clear()
            for one in shown:
                if one.display_id not in listening:
                    listening[one.display_id] = self._listen(one)
                if one.refresh():
                    listening.pop(one.display_id)()
                    self._drop(one)
            self._never.wait(SHORTEST_GAP_S)
            self._news.wait(LONGEST_GAP_S)

    def _listen(self, shown: _Shown) -> Callable[[], None]:
        with suppress(RxFerrixError):
            return shown.handle.on_commit(self._news.set)
        return lambda: None

    def _following(self) -> list[_Shown]:
        with self._guard:
            if not self._shown:
                self._thread = None
            return list(self._shown)

    def _drop(self, shown: _Shown) -> None:
        with self._guard:
            self._shown.remove(shown)


_outputs = _LiveOutputs()
