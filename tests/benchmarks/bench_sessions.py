"""How late jobs begin while 50 pages of the dashboard are open, with 20 jobs a second.

Run it from the root of the repository: `python -m tests.benchmarks.bench_sessions [SESSIONS]`. Each
session is a document of its own, pulled over a websocket as a browser does, and follows the app,
whose every job is made and ends. The floor is the same app before the first session, in the same
run. Opening so many pages at once is not measured, nor the garbage collection that it makes due.
"""

import gc
import sys
from collections.abc import Generator
from contextlib import contextmanager

from bokeh.client import pull_session
from bokeh.document.events import MessageSentEvent
from bokeh.events import DocumentReady

from rxferrix_lab import RxFerrix
from tests.benchmarks.bench_lateness import Lateness, print_lateness
from tests.benchmarks.floor import print_row
from tests.benchmarks.workload import running, workload

SESSIONS = 50
PORT = 5187
SHARE = 0.99
ROUNDS = 5


@contextmanager
def open_sessions(app: RxFerrix, sessions: int) -> Generator[None]:
    """So many pages of the app's dashboard, until the block ends."""
    served = app.serve(PORT)
    opened = [pull_session(url=served.url) for _ in range(sessions)]
    for session in opened:
        ready = MessageSentEvent(session.document, "bokeh_event", DocumentReady())
        session.document.callbacks.trigger_on_change(ready)
        session.force_roundtrip()
    following = app.model().hub.followers
    if following < sessions:
        raise RuntimeError(f"only {following} of {sessions} sessions follow the app")
    gc.collect()
    try:
        yield
    finally:
        for session in opened:
            session.close()
        served.stop()


def measure(lateness: Lateness) -> list[float]:
    """How late each of 1,000 jobs began, in order: the 99th percentile of 200 is two of them."""
    return sorted(late for _ in range(ROUNDS) for late in lateness.measure(lateness.mutation))


def p99(late: list[float]) -> float:
    """The 99th percentile of lateness in order."""
    return late[int(len(late) * SHARE)]


def main() -> None:
    """Print the table."""
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else SESSIONS
    print_row("lateness, ms", "p50", "p99", "jobs")
    with workload() as load, running(load):
        lateness = Lateness(load)
        alone = measure(lateness)
        print_lateness("floor: no session", alone)
        with open_sessions(load.app, sessions):
            watched = measure(lateness)
        print_lateness(f"{sessions} sessions", watched)
    print_row("p99 with sessions, of p99 without", f"{p99(watched) / p99(alone):.2f}")


if __name__ == "__main__":
    main()
