"""Rewrites the database's file when nobody needs it.

DuckDB's own checkpoint rewrites the file in place, and a power cut in that moment can cost it; a
copy that takes its place cannot tear. Done when nothing was committed for a while, on the writer's
thread.
"""

from collections.abc import Callable
from concurrent.futures import Future
from datetime import timedelta
from typing import Protocol, TypeVar

from rxferrix_lab.engine.writer import Writer
from rxferrix_lab.storage.store import Store

IDLE_S = 10.0  # without a commit
QUIET_AHEAD = timedelta(seconds=5)  # without a job that is due
AGAIN_AFTER_S = 60.0  # where somebody read, or the disk was full

T = TypeVar("T")


class OnWriter(Protocol):
    """The way to the writer's thread."""

    def __call__(self, work: Callable[[Store], T]) -> "Future[T]":
        """Run something with the store between two transactions."""
        ...


class Housekeeping:
    """Knows how long nothing was written. Owned by the engine's loop."""

    def __init__(self, store: Store, writer: Writer, on_writer: OnWriter) -> None:
        self._store = store
        self._writer = writer
        self._on_writer = on_writer
        self._commits = 0
        self._quiet_since_s: float | None = None  # null while something is under way
        self._under_way: Future[bool] | None = None
        self._not_before_s = 0.0

    def note_work(self) -> None:
        """Something is under way, or will be in a moment."""
        self._quiet_since_s = None

    def look(self, now_s: float) -> None:
        """Hand in a compaction, if nothing happened for a while and the log is large."""
        if self._quiet_since_s is None or self._writer.commits != self._commits:
            self._commits = self._writer.commits
            self._quiet_since_s = now_s
        if now_s - self._quiet_since_s < IDLE_S or now_s < self._not_before_s:
            return
        if self._is_under_way() or not self._store.wants_compaction:
            return
        self._under_way = self._on_writer(lambda store: store.compact())
        self._not_before_s = now_s + AGAIN_AFTER_S

    def _is_under_way(self) -> bool:
        return self._under_way is not None and not self._under_way.done()
