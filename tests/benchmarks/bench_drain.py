"""How fast due mutations drain, each inserting one row, beside raw DuckDB doing the same writes.

Run it from the root of the repository: `python -m tests.benchmarks.bench_drain`. The clock runs
from the start of the app until no job is left unrecorded. Read the ratios, not the rates.
"""

import sys
from datetime import timedelta
from time import sleep

from tests.benchmarks.floor import Speed, Stopwatch, better, print_floor, print_speed, run_floor
from tests.benchmarks.workload import Workload, now, running, workload

JOBS = 50_000
LOOK_S = 0.02
GOAL = 20


def drain(load: Workload, jobs: int) -> Speed:
    """Enqueue, let all become due while the app is stopped, start it, measure."""
    due = now() + timedelta(seconds=10)
    with running(load):
        load.enqueue(jobs, due)
    while now() < due:
        sleep(LOOK_S)
    watch = Stopwatch()
    with running(load):
        while load.unfinished():
            sleep(LOOK_S)
        return watch.speed(jobs)


def main() -> int:
    """Print the table; the exit code says whether the goal was reached."""
    before = run_floor(JOBS)
    with workload() as load:
        speed = drain(load, JOBS)
    floor = better(before, run_floor(JOBS))
    print_floor(floor)
    print_speed(f"rxferrix_lab, {JOBS:,} mutations", speed, floor)
    times = speed.per_s / floor[0].per_s
    print(f"goal: {GOAL} times raw DuckDB one by one; reached: {times:.1f}")
    return 0 if times >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
