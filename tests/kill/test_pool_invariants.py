"""What is true of pools stays true across kill -9: slots, completions, cancellations, ends.

`RXFERRIX_POOL_KILLS=50` runs the long proof.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pytest

from tests.kill.pool_worker import PLAIN, POOLS, make_app, write_line

KILLS = int(os.environ.get("RXFERRIX_POOL_KILLS", "4"))
SEED = int(os.environ.get("RXFERRIX_KILL_SEED", "7"))
PATIENCE_S = 60.0
SLOTS = {**POOLS, "plain": PLAIN}
Attempt = tuple[str, str]  # job and attempt

pytestmark = pytest.mark.kill


@dataclass(frozen=True)
class Aftermath:
    """What the kills left behind, after one more start that ran everything to its end."""

    folder: Path
    running_at_death: list[dict[str, int]] = field(default_factory=list)  # by pool, for each kill

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """What the database says, the app being stopped."""
        with duckdb.connect(str(self.folder / "app.duckdb"), read_only=True) as connection:
            return connection.execute(query).fetchall()

    def lines(self) -> Iterator[tuple[str, str, Attempt]]:
        """What the bodies wrote: the event, the pool, the attempt."""
        for line in (self.folder / "lines").read_text().splitlines():
            event, pool, job, attempt = line.split()
            yield event, pool, (job, attempt)


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Aftermath:
    found = Aftermath(tmp_path_factory.mktemp("killed_pools"))
    rng = random.Random(SEED)
    for number in range(KILLS):
        run_and_kill(checkout, found.folder, number, rng.uniform(0.1, 0.6))
        query = """
            SELECT coalesce(pool, 'plain'), count(*)
            FROM _scheduled_jobs
            WHERE state IN ('running', 'canceling')
            GROUP BY ALL
        """
        found.running_at_death.append({str(pool): int(str(n)) for pool, n in found.rows(query)})
    run_to_the_end(found.folder)
    return found


def run_and_kill(checkout: Path, folder: Path, seed: int, after_s: float) -> None:
    lines = folder / "lines"
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.kill.pool_worker", str(folder), str(seed)], cwd=checkout
    )
    try:
        wait_until(lambda: lines.exists() and f"up process {seed} 0" in lines.read_text())
        time.sleep(after_s)
        assert worker.poll() is None, "the worker ended by itself"
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()


def run_to_the_end(folder: Path) -> None:
    app = make_app(folder)
    write_line(folder, "start process 0 0")
    app.start()
    try:
        wait_until(lambda: app.jobs(state=["pending", "running", "canceling"], limit=1).empty)
    finally:
        app.stop()


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S  # noqa: TID251  # of real processes
    while not is_so():
        assert time.monotonic() < deadline, "it takes too long"  # noqa: TID251
        time.sleep(0.02)


def test_the_load_was_a_load(aftermath: Aftermath) -> None:
    begun = Counter(pool for event, pool, _ in aftermath.lines() if event == "begin")
    at_death = Counter[str]()
    for running in aftermath.running_at_death:
        at_death.update(running)

    assert min(begun[pool] for pool in SLOTS) > KILLS
    assert at_death["wide"] > 0


def test_no_more_bodies_run_at_once_than_there_are_slots(aftermath: Aftermath) -> None:
    alive: dict[str, set[Attempt]] = defaultdict(set)
    for event, pool, attempt in aftermath.lines():
        match event:
            case "start":
                alive.clear()
            case "begin":
                alive[pool].add(attempt)
                assert len(alive[pool]) <= SLOTS[pool]
            case "end":
                alive[pool].remove(attempt)
            case _:
                pass


def test_the_database_never_shows_more_running_than_there_are_slots(aftermath: Aftermath) -> None:
    for running in aftermath.running_at_death:
        for pool, jobs in running.items():
            assert jobs <= SLOTS[pool]


def test_no_attempt_begins_twice(aftermath: Aftermath) -> None:
    begun = Counter(attempt for event, _, attempt in aftermath.lines() if event == "begin")

    assert [attempt for attempt, times in begun.items() if times > 1] == []


def test_what_was_canceled_ends_canceled_and_never_begins_again(aftermath: Aftermath) -> None:
    canceled = {job for event, _, (job, _) in aftermath.lines() if event == "canceled"}
    rows = aftermath.rows("SELECT id, state FROM _scheduled_jobs")
    states = {str(job): state for job, state in rows}

    assert canceled
    assert {states[job] for job in canceled} == {"canceled"}


def test_every_job_has_ended(aftermath: Aftermath) -> None:
    assert aftermath.rows("SELECT id FROM _scheduled_jobs WHERE finished_at IS NULL") == []


def test_each_pooled_job_was_told_once_how_it_ended(aftermath: Aftermath) -> None:
    query = """
        SELECT jobs.id, jobs.state, list(told.outcome)
        FROM _scheduled_jobs AS jobs
        LEFT JOIN told ON told.work = jobs.id
        WHERE jobs.pool IS NOT NULL
        GROUP BY ALL
        HAVING list(told.outcome) <> [jobs.state]
    """

    assert aftermath.rows(query) == []
