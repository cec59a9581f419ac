"""What is promised survives kill -9: real processes, killed at random moments of a mixed load.

`RXFERRIX_KILLS=200` runs the long proof.
"""

import os
import random
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab import RxFerrix
from tests.kill.worker import make_app

KILLS = int(os.environ.get("RXFERRIX_KILLS", "25"))
SEED = int(os.environ.get("RXFERRIX_KILL_SEED", "7"))
PATIENCE_S = 120.0
STARTING = "starting"

pytestmark = pytest.mark.kill


@dataclass(frozen=True)
class Aftermath:
    """What the kills left behind, after one more start that ran everything to its end."""

    acknowledged: dict[int, str]  # job to kind
    starts: list[str]  # "job attempt", one for each attempt that wrote its first line
    folder: Path

    def rows(self, query: str) -> list[tuple[object, ...]]:
        """What the database says, the app being stopped."""
        with duckdb.connect(str(self.folder / "app.duckdb"), read_only=True) as connection:
            return connection.execute(query).fetchall()


@pytest.fixture(scope="module")
def aftermath(tmp_path_factory: pytest.TempPathFactory, checkout: Path) -> Aftermath:
    folder = tmp_path_factory.mktemp("killed")
    rng = random.Random(SEED)
    acknowledged: dict[int, str] = {}
    for number in range(KILLS):
        for line in run_and_kill(checkout, folder, number, rng.uniform(0.05, 0.8)):
            kind, job = line.split()
            assert int(job) not in acknowledged, f"the id {job} was used twice"
            acknowledged[int(job)] = kind
    run_to_the_end(make_app(folder))
    starts = (folder / "starts").read_text().splitlines()
    return Aftermath(acknowledged, starts, folder)


def run_and_kill(checkout: Path, folder: Path, seed: int, after_s: float) -> list[str]:
    """The jobs that a worker acknowledged before its death, as the lines that it wrote."""
    # The moment counts from the first line, else most kills would hit the imports. Every fourth
    # kill falls into the start, where the last one is being put right.
    first_line = "" if seed % 4 else STARTING
    worker = subprocess.Popen(
        [sys.executable, "-m", "tests.kill.worker", str(folder), str(seed), first_line],
        cwd=checkout,
        stdout=subprocess.PIPE,
    )
    assert worker.stdout is not None
    try:
        readable, _, _ = select.select([worker.stdout], [], [], PATIENCE_S)
        assert readable, "the worker has not started"
        time.sleep(after_s / 8 if first_line else after_s)
        assert worker.poll() is None, "the worker ended by itself"
    finally:
        worker.send_signal(signal.SIGKILL)
        written, _ = worker.communicate()
    return [line for line in written.decode().split("\n")[:-1] if line != STARTING]


def run_to_the_end(app: RxFerrix) -> None:
    """Start once more, and stop when nothing is left to do."""
    app.start()
    try:
        deadline = time.monotonic() + PATIENCE_S  # noqa: TID251  # of real processes
        while len(app.jobs(state=["pending", "running", "canceling"], limit=1)):
            assert time.monotonic() < deadline, "the jobs have no end"  # noqa: TID251
            time.sleep(0.05)
    finally:
        app.stop()


def test_the_load_was_a_load(aftermath: Aftermath) -> None:
    kinds = Counter(aftermath.acknowledged.values())

    assert kinds["mutation"] > KILLS
    assert kinds["action"] > KILLS
    assert len(aftermath.starts) > KILLS


def test_no_acknowledged_job_is_lost(aftermath: Aftermath) -> None:
    stored = {job for (job,) in aftermath.rows("SELECT id FROM _scheduled_jobs")}

    assert set(aftermath.acknowledged) - stored == set()


def test_every_job_has_ended(aftermath: Aftermath) -> None:
    query = "SELECT id, state FROM _scheduled_jobs WHERE finished_at IS NULL"

    assert aftermath.rows(query) == []


def test_no_mutation_took_effect_twice_or_in_part(aftermath: Aftermath) -> None:
    query = "SELECT token, list(part ORDER BY part) FROM effects GROUP BY token"
    parts = Counter(str(found) for _, found in aftermath.rows(query))

    assert set(parts) == {"[0, 1, 2]"}


def test_a_mutation_took_effect_if_and_only_if_it_succeeded(aftermath: Aftermath) -> None:
    query = """
        SELECT state, token IS NOT NULL AS took_effect, count(*)
        FROM (SELECT state, args FROM _scheduled_jobs WHERE function = 'write') AS jobs
        LEFT JOIN (SELECT DISTINCT token FROM effects) AS done
            ON args = '{"token":"' || token || '"}'
        GROUP BY ALL
    """
    found = {(state, took_effect) for state, took_effect, _ in aftermath.rows(query)}

    assert found <= {("succeeded", True), ("canceled", False)}


def test_no_attempt_of_an_action_started_twice(aftermath: Aftermath) -> None:
    repeated = [start for start, times in Counter(aftermath.starts).items() if times > 1]

    assert repeated == []


def test_no_action_started_that_was_not_claimed(aftermath: Aftermath) -> None:
    query = "SELECT id, attempt FROM _scheduled_jobs WHERE function = 'act'"
    begun = {str(job): attempt for job, attempt in aftermath.rows(query)}

    for start in aftermath.starts:
        job, attempt = start.split()
        assert int(attempt) <= int(str(begun[job]))


def test_no_id_is_used_twice(aftermath: Aftermath) -> None:
    for table in ("_scheduled_jobs", "_execution_log", "effects", "completions"):
        query = f"SELECT id FROM {table} GROUP BY id HAVING count(*) > 1"

        assert aftermath.rows(query) == []


def test_each_pooled_job_that_ended_had_one_completion(aftermath: Aftermath) -> None:
    query = """
        SELECT jobs.id, count(completions.id) AS times
        FROM _scheduled_jobs AS jobs
        LEFT JOIN completions ON completions.work = jobs.id
        WHERE jobs.function = 'act'
        GROUP BY jobs.id
        HAVING times <> 1
    """

    assert aftermath.rows(query) == []


def test_each_completion_was_told_how_its_job_ended(aftermath: Aftermath) -> None:
    query = """
        SELECT DISTINCT jobs.state, completions.outcome
        FROM _scheduled_jobs AS jobs
        JOIN completions ON completions.work = jobs.id
    """

    assert set(aftermath.rows(query)) <= {
        ("succeeded", "Succeeded"),
        ("failed", "Failed"),
        ("canceled", "Canceled"),
    }
