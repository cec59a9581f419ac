"""What an attempt prints and logs, kept with the attempt.

Standard output and logging are routed by a context variable, so two attempts that run at once never
mix, be they tasks or threads. Owns nothing of the process outside a capture: the last one puts back
what it found.
"""

import logging
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TextIO

MOST_KEPT = 64 * 1024
CUT_NOTE = "\n… what came after these 64 kB was not kept\n"
MakeRecord = Callable[..., logging.LogRecord]


class Sink:
    """Where the text of one attempt goes: into `kept`, up to 64 kB of it."""

    def __init__(self, kept: list[str], *, passes_on: bool) -> None:
        self._kept = kept
        self._left = MOST_KEPT
        self.passes_on = passes_on

    def take(self, text: str) -> None:
        """Keep what there is room for."""
        if self._left <= 0 or not text:
            return
        # What the database cannot hold is shown escaped: lone surrogates, and the NUL character.
        encoded = text.replace("\0", "\\x00").encode("utf-8", "backslashreplace")
        if len(encoded) > self._left:
            self._kept.append(encoded[: self._left].decode("utf-8", "ignore") + CUT_NOTE)
            self._left = 0
            return
        self._left -= len(encoded)
        self._kept.append(encoded.decode("utf-8"))


_sink: ContextVar[Sink | None] = ContextVar("rxferrix output", default=None)


@contextmanager
def captured(kept: list[str], *, passes_on: bool) -> Generator[None]:
    """Keep what is printed and logged inside the block, also by its tasks and threads.

    Args:
        kept: where the text is added.
        passes_on: whether it is printed as well, as without a capture.
    """
    if _sink.get() is not None:  # an action inside an action: one attempt, one output
        yield
        return
    token = _sink.set(Sink(kept, passes_on=passes_on))
    _routes.enter()
    try:
        yield
    finally:
        _routes.leave()
        _sink.reset(token)


class RoutedStdout:
    """Stands before the real standard output, and is it in everything but `write`."""

    def __init__(self, real: TextIO) -> None:
        self.real = real

    def write(self, text: str) -> int:
        """Keep the text for the attempt that writes it, or print it where none does."""
        sink = _sink.get()
        if sink is None:
            return self.real.write(text)
        sink.take(text)
        if sink.passes_on:
            self.real.write(text)
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # whatever the real one has
        return getattr(self.real, name)


class _Routes:
    """The process's stdout and log records, led through here while anything is captured."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._captures = 0
        self._found_factory: MakeRecord | None = None
        self._own_factory: MakeRecord = self._record  # one object, to be compared by identity

    def enter(self) -> None:
        with self._guard:
            self._captures += 1
            if not isinstance(sys.stdout, RoutedStdout):
                sys.stdout = RoutedStdout(sys.stdout)
            # A handler on the root logger would turn the user's logging.basicConfig into nothing.
            if logging.getLogRecordFactory() is not self._own_factory:
                self._found_factory = logging.getLogRecordFactory()
                logging.setLogRecordFactory(self._own_factory)

    def leave(self) -> None:
        with self._guard:
            self._captures -= 1
            if self._captures:
                return
            if isinstance(sys.stdout, RoutedStdout):
                sys.stdout = sys.stdout.real
            found = self._found_factory
            if found is not None and logging.getLogRecordFactory() is self._own_factory:
                logging.setLogRecordFactory(found)

    def _record(self, *args: Any, **kwargs: Any) -> logging.LogRecord:  # noqa: ANN401  # logging's own
        factory = self._found_factory or logging.LogRecord
        record = factory(*args, **kwargs)
        sink = _sink.get()
        if sink is not None:
            sink.take(_LINE.format(record) + "\n")
        return record


_LINE = logging.Formatter("%(levelname)s %(name)s: %(message)s")
_routes = _Routes()
