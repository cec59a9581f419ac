"""The line of requests: who waits, who is told, and what happens while nothing can be written."""

import os
import signal
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from rxferrix_lab.engine import writer_thread
from rxferrix_lab.engine.writer import Answer, Request, Writer
from rxferrix_lab.engine.writer_thread import ThreadLine
from rxferrix_lab.errors import NotRunningError, StoreUnavailableError
from tests.engine.faulty_store import Fault, FaultyStore
from tests.engine.log_rows import entry

PATIENCE_S = 30.0


class Told:
    """A request's answer, once there is one."""

    def __init__(self, name: str, *, persists: bool) -> None:
        self._is_there = threading.Event()
        self._answer = Answer()
        self.request = Request(
            lambda transaction: transaction.log(entry(name)), done=self._take, persists=persists
        )

    def _take(self, answer: Answer) -> None:
        self._answer = answer
        self._is_there.set()

    def error(self) -> BaseException | None:
        """What the request failed with; None where it committed."""
        assert self._is_there.wait(PATIENCE_S)
        return self._answer.error


@pytest.fixture
def store(tmp_path: Path) -> Generator[FaultyStore, None, None]:
    made = FaultyStore(tmp_path / "app.duckdb")
    made.open()
    yield made
    made.close()


@pytest.fixture
def line(store: FaultyStore, monkeypatch: pytest.MonkeyPatch) -> Generator[ThreadLine, None, None]:
    monkeypatch.setattr(writer_thread, "FIRST_WAIT_S", 0.01)
    made = ThreadLine(Writer(store, lambda _: None))
    yield made
    made.close()


def logged(store: FaultyStore) -> list[str]:
    query = "SELECT function FROM _execution_log ORDER BY id"
    return [name for (name,) in store.read(lambda writer: writer.execute(query).fetchall())]


def test_requests_run_in_the_order_of_all_hand_ins(line: ThreadLine, store: FaultyStore) -> None:
    told = [Told(str(number), persists=False) for number in range(50)]

    for each in told:
        line.submit([each.request])
    assert [each.error() for each in told] == [None] * 50
    line.close()

    assert logged(store) == [str(number) for number in range(50)]


def test_a_caller_is_told_of_a_full_disk_and_the_schedulers_own_goes_through_later(
    line: ThreadLine, store: FaultyStore
) -> None:
    store.fail(*[Fault.DISK_FULL] * 3)
    caller, own = Told("caller", persists=False), Told("own", persists=True)

    line.submit([own.request, caller.request])

    assert isinstance(caller.error(), StoreUnavailableError)
    assert own.error() is None
    line.close()
    assert logged(store) == ["own"]


def test_trouble_is_told_while_it_lasts(line: ThreadLine, store: FaultyStore) -> None:
    store.fail(Fault.DISK_FULL)
    caller = Told("caller", persists=False)

    line.submit([caller.request])
    caller.error()
    during = line.trouble
    own = Told("own", persists=True)
    line.submit([own.request])
    own.error()
    line.close()

    assert during is not None
    assert "No space left" in during
    assert line.trouble is None


def test_closing_runs_what_was_handed_in(line: ThreadLine, store: FaultyStore) -> None:
    told = Told("last", persists=False)
    line.submit([told.request])

    line.close()

    assert told.error() is None


def test_closing_on_a_full_disk_has_an_end_and_answers_everybody(
    line: ThreadLine, store: FaultyStore
) -> None:
    store.fail(*[Fault.DISK_FULL] * 1000)
    own = Told("own", persists=True)
    line.submit([own.request])

    line.close()

    assert isinstance(own.error(), StoreUnavailableError)


def test_what_comes_after_the_end_is_refused(line: ThreadLine) -> None:
    line.close()
    late = Told("late", persists=True)

    line.submit([late.request])

    assert isinstance(late.error(), NotRunningError)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_is_refused_and_does_not_wait_for_a_thread_it_lacks(
    line: ThreadLine,
) -> None:
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        told = Told("child", persists=False)
        line.submit([told.request])
        os._exit(0 if isinstance(told.error(), NotRunningError) else 1)

    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
