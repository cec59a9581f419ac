"""Values of another kind than asked for are refused where they are given, in words of our own."""

import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

import pytest

from rxferrix_lab import Backoff, CronSchedule, Identity, RxFerrix, VirtualClock
from rxferrix_lab.testing import TestApp

DAILY: Any = CronSchedule("0 0 9 * * *")
MADE: list[tuple[Callable[..., Any], tuple[Any, ...], str]] = [
    (CronSchedule, (None,), "an expression is text of six fields"),
    (CronSchedule, (5,), "an expression is text of six fields"),
    (CronSchedule, ("0 0 9 * * *", None), '"None" is not an IANA time zone'),
    (CronSchedule, ("0 0 9 * * *", 5), '"5" is not an IANA time zone'),
    (DAILY.next, (None,), "a moment is an aware datetime, not None"),
    (DAILY.explain, ("2026",), "the year '2026' is outside 3-9997"),
    (TestApp, (None,), "TestApp takes a RxFerrix, not None"),
    (Identity, (None,), "an identity's subject is text, not None"),
    (Identity, ("ann", "yes"), "an identity's admin is True or False, not 'yes'"),
    (VirtualClock, (None,), "a virtual clock's start is an aware datetime, not None"),
    (VirtualClock, (datetime(2026, 1, 1),), "has no time zone"),  # noqa: DTZ001  # that is it
    (Backoff, (5,), "a backoff's initial wait takes a timedelta, not 5"),
]
ASKED: list[tuple[Callable[[Any], Any], str]] = [
    (lambda app: app.jobs(limit="x"), "limit is a whole number of 1 or more, not 'x'"),
    (lambda app: app.jobs(limit=0), "limit is a whole number of 1 or more, not 0"),
    (lambda app: app.jobs(state=5), '"5" is not a state; the states are pending'),
    (lambda app: app.jobs(state="lost"), '"lost" is not a state'),
    (lambda app: app.jobs(state=["failed", "lost"]), '"lost" is not a state'),
    (lambda app: app.jobs(function=[]), r"function is text, not \[\]"),
    (lambda app: app.sql(5), "a statement is text, not 5"),
    (lambda app: app.scheduler.pool([]), r"a pool's name is text, not \[\]"),
    (lambda app: app.resize_pool([], 1), r"a pool's name is text, not \[\]"),
    (lambda app: app.cancel_pool(None), "a pool's name is text, not None"),
    (lambda app: app.pause_cron([]), r"a cron's name is text, not \[\]"),
    (lambda app: app.serve("x"), "a port is a whole number of 0 or more, not 'x'"),
    (lambda app: app.serve(-1), "a port is a whole number of 0 or more, not -1"),
    (lambda app: app.serve(99_999), "a port is a whole number from 0 to 65,535, not 99999"),
]


@pytest.mark.parametrize(("make", "given", "said"), MADE)
def test_what_is_made_of_another_kind_is_refused(
    make: Callable[..., Any], given: tuple[Any, ...], said: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        make(*given)


@pytest.fixture(scope="module")
def app() -> Iterator[RxFerrix]:
    """A running app."""
    made = RxFerrix(interactive=False).start()
    yield made
    made.stop()


@pytest.mark.parametrize(("ask", "said"), ASKED)
def test_what_is_asked_with_another_kind_is_refused(
    app: RxFerrix, ask: Callable[[Any], Any], said: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=said):
        ask(app)


def test_states_may_be_given_in_any_collection(app: RxFerrix) -> None:
    asked: Any = {"failed", "canceled"}

    assert app.jobs(state=asked).empty


def test_service_outside_the_main_thread_is_refused() -> None:
    said: list[str] = []

    def run() -> None:
        with pytest.raises(RuntimeError) as refused:
            RxFerrix(interactive=False).run()
        said.append(str(refused.value))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()

    [text] = said
    assert text.endswith("only the main thread hears; elsewhere use start() and stop()")
