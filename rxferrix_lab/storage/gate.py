"""Readers pass together; whoever changes the file itself keeps new ones waiting.

Guards nothing by itself and knows no database. A reader that is inside may enter again.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from rxferrix_lab.storage.fork import poison_after_fork


class Gate:
    """Any number of readers, or one that holds them off. Thread-safe."""

    def __init__(self) -> None:
        self._turn = threading.Condition()
        self._readers = 0
        self._is_held = False
        poison_after_fork(self)

    @contextmanager
    def reading(self) -> Generator[None, None, None]:
        """Be inside; waits while the gate is held."""
        with self._turn:
            while self._is_held:
                self._turn.wait()
            self._readers += 1
        try:
            yield
        finally:
            with self._turn:
                self._readers -= 1

    @contextmanager
    def held(self) -> Generator[None, None, None]:
        """Hold off new readers, whether or not some are inside."""
        with self._turn:
            self._is_held = True
        try:
            yield
        finally:
            self._let_go()

    @contextmanager
    def held_if_empty(self) -> Generator[bool, None, None]:
        """Hold off new readers where none is inside; else False, and nothing is held.

        Never waits for readers: one of them may be about to enter a second time.
        """
        with self._turn:
            is_mine = self._readers == 0
            self._is_held = is_mine
        try:
            yield is_mine
        finally:
            if is_mine:
                self._let_go()

    def poison(self) -> None:
        """In a forked child nobody is inside, and whoever held the lock is not there."""
        self._turn = threading.Condition()
        self._readers = 0
        self._is_held = False

    def _let_go(self) -> None:
        with self._turn:
            self._is_held = False
            self._turn.notify_all()
