"""What an app costs that has nothing to do: processor time, and memory.

Run it from the root of the repository: `python -m tests.benchmarks.bench_idle`. Processor time is
that of 30 s with 1,000 jobs pending; memory is the most that a process ever held that opened a file
with 100,000 pending and ran for some seconds. The floor of the memory is a process in which
raw DuckDB opened the same file.
"""

import resource
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from time import process_time, sleep

import duckdb

from tests.benchmarks.floor import print_row
from tests.benchmarks.workload import Workload, far_off, running

IDLE_S = 30
IDLE_PENDING = 1_000
MANY_PENDING = 100_000
SETTLE_S = 5


def idle(path: Path) -> None:
    """Print the processor seconds of an idle app."""
    load = Workload(path)
    with running(load):
        load.enqueue(IDLE_PENDING, far_off())
        sleep(SETTLE_S)
        began = process_time()
        sleep(IDLE_S)
        print(f"{process_time() - began:.3f}")


def fill(path: Path) -> None:
    """Leave a file with many jobs pending."""
    load = Workload(path)
    with running(load):
        load.enqueue(MANY_PENDING, far_off())


def hold(path: Path) -> None:
    """Print the megabytes of a process that runs the app."""
    with running(Workload(path)):
        sleep(SETTLE_S)
        print(f"{most_memory_mb():.0f}")


def hold_raw(path: Path) -> None:
    """Print the megabytes of a process that opens the file with raw DuckDB and reads all jobs."""
    with duckdb.connect(str(path)) as connection:
        connection.execute("SELECT max(due_at) FROM _scheduled_jobs").fetchall()
        print(f"{most_memory_mb():.0f}")


def most_memory_mb() -> float:
    """The most that this process ever held. Linux counts in KiB, macOS in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


PARTS = {part.__name__: part for part in (idle, fill, hold, hold_raw)}


def in_a_process_of_its_own(part: str, path: Path) -> str:
    """What one part printed."""
    command = [sys.executable, "-m", "tests.benchmarks.bench_idle", part, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


@contextmanager
def new_file() -> Generator[Path]:
    """A database file to be made in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder) / "app.duckdb"


def main() -> None:
    """Print the table, or run the one part that was asked for."""
    if len(sys.argv) == 3:
        PARTS[sys.argv[1]](Path(sys.argv[2]))
        return
    print_row("", "measured", "floor")
    with new_file() as path:
        cpu_s = in_a_process_of_its_own("idle", path)
        print_row(f"processor seconds in {IDLE_S} s, {IDLE_PENDING:,} pending", cpu_s, "0.000")
    with new_file() as path:
        in_a_process_of_its_own("fill", path)
        floor_mb = in_a_process_of_its_own("hold_raw", path)
        held_mb = in_a_process_of_its_own("hold", path)
        print_row(f"memory in MB, {MANY_PENDING:,} pending", held_mb, floor_mb)


if __name__ == "__main__":
    main()
