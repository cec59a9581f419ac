"""Lines up requests for the writer: on its own thread, or at once on the caller's."""

import threading
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from rxferrix_lab.engine.writer import Answer, Request, Unwritable, Writer
from rxferrix_lab.errors import NotRunningError, StoreUnavailableError
from rxferrix_lab.storage.fork import poison_after_fork

FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 5.0


class WriterLine(Protocol):
    """Where requests are handed in."""

    def submit(self, requests: Sequence[Request]) -> None:
        """Hand in requests; they run in the order of all hand-ins."""
        ...

    def close(self) -> None:
        """Run what was handed in, and take nothing more."""
        ...

    def is_writer_thread(self) -> bool:
        """Whether the caller is inside a mutation."""
        ...

    @property
    def waiting(self) -> int:
        """How many requests wait in line."""
        ...

    @property
    def trouble(self) -> str | None:
        """Why nothing can be written at the moment; None where all is well."""
        ...


class InlineLine:
    """Runs each request before `submit` returns.

    Under a virtual clock nothing is left to chance.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._is_closed = False
        self.waiting = 0
        self.trouble: str | None = None

    def submit(self, requests: Sequence[Request]) -> None:
        """Run the requests now, as one group."""
        if self._is_closed:
            refuse(requests)
            return
        try:
            self._writer.run(requests)
        except Unwritable as unwritable:
            raise StoreUnavailableError(str(unwritable.error)) from unwritable.error

    def is_writer_thread(self) -> bool:
        """Whether a mutation runs: with one thread, the caller is inside it."""
        return self._writer.is_in_body

    def close(self) -> None:
        """Take nothing more."""
        self._is_closed = True


class ThreadLine:
    """Runs requests on one thread of its own, as many as wait in one group."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._line: deque[Request] = deque()  # guarded by _turn
        self._turn = threading.Condition()
        self._is_closing = False
        self.trouble: str | None = None
        self._thread = threading.Thread(target=self._work, name="rxferrix-writer", daemon=True)
        poison_after_fork(self)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many requests wait in line."""
        return len(self._line)

    def is_writer_thread(self) -> bool:
        """Whether the caller is inside a mutation."""
        return threading.current_thread() is self._thread

    def submit(self, requests: Sequence[Request]) -> None:
        """Hand in requests; they run in the order of all hand-ins."""
        with self._turn:
            if not self._is_closing:
                self._line.extend(requests)
                self._turn.notify()
                return
        refuse(requests)

    def close(self) -> None:
        """Run what was handed in, take nothing more, and end the thread."""
        with self._turn:
            self._is_closing = True
            self._turn.notify()
        self._thread.join()

    def poison(self) -> None:
        """A forked child has no writer's thread: nothing may wait for it there."""
        self._turn = threading.Condition()
        self._is_closing = True

    def _work(self) -> None:
        try:
            while (group := self._next_group()) is not None:
                self._run_until_written(group)
        finally:
            # Also where a fault of ours ends the thread: nobody may wait for it in vain.
            with self._turn:
                self._is_closing = True
                left, self._line = self._line, deque()
            refuse(list(left))

    def _next_group(self) -> list[Request] | None:
        with self._turn:
            while not self._line and not self._is_closing:
                self._turn.wait()
            if not self._line:
                return None
            size = min(len(self._line), self._writer.group_limit)
            return [self._line.popleft() for _ in range(size)]

    def _run_until_written(self, group: list[Request]) -> None:
        """What persists is tried again until the database takes it, or the app is closed."""
        wait_s = FIRST_WAIT_S
        while True:
            try:
                self._writer.run(group)
            except Unwritable as unwritable:
                group = unwritable.waiting
                self.trouble = str(unwritable.error)
                self._tell_callers(unwritable.error)
                if self._waited_in_vain(wait_s):
                    _answer(group, _refusal(unwritable.error))
                    return
                wait_s = min(wait_s * 2, LONGEST_WAIT_S)
            else:
                self.trouble = None
                return
            if not group:
                return

    def _waited_in_vain(self, seconds: float) -> bool:
        """Wait before the next try; True where there will be none, because the app is closed."""
        with self._turn:
            if not self._is_closing:
                self._turn.wait(seconds)
            return self._is_closing

    def _tell_callers(self, error: Exception) -> None:
        """A caller in line does not wait for the disk; what persists stays in line."""
        with self._turn:
            told = [request for request in self._line if not request.persists]
            self._line = deque(request for request in self._line if request.persists)
        _answer(told, _refusal(error))


def _refusal(error: Exception) -> StoreUnavailableError:
    return StoreUnavailableError(f"the database cannot be written now: {error}")


def _answer(requests: Sequence[Request], error: Exception) -> None:
    for request in requests:
        if request.done is not None:
            request.done(Answer(error=error))


def refuse(requests: Sequence[Request]) -> None:
    """Answer requests that came after the end."""
    _answer(requests, NotRunningError("the app has stopped"))
