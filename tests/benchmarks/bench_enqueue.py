"""How fast jobs are enqueued: one by one, from 64 producers at once, and in bulk.

Run it from the root of the repository: `python -m tests.benchmarks.bench_enqueue`. Each job is
acknowledged, which is to say durable, before its producer goes on. Read the ratios.
"""

import anyio

from tests.benchmarks.floor import Speed, Stopwatch, better, enqueue_floor, print_floor, print_speed
from tests.benchmarks.workload import Workload, far_off, running, workload

ONE_BY_ONE = 1_000
PRODUCERS = 64
FROM_PRODUCERS = 20_000
BULK = 100_000


async def one_by_one(load: Workload, jobs: int) -> Speed:
    """One producer that waits for each acknowledgement."""
    due, watch = far_off(), Stopwatch()
    for _ in range(jobs):
        await load.app.scheduler.run_at(due, load.note)
    return watch.speed(jobs)


async def from_producers(load: Workload, jobs: int) -> Speed:
    """Many producers at once, each of which waits for each of its acknowledgements."""
    watch = Stopwatch()
    async with anyio.create_task_group() as producers:
        for _ in range(PRODUCERS):
            producers.start_soon(one_by_one, load, jobs // PRODUCERS)
    return watch.speed(jobs)


def in_bulk(load: Workload, jobs: int) -> Speed:
    """Ten thousand jobs a transaction."""
    watch = Stopwatch()
    load.enqueue(jobs, far_off())
    return watch.speed(jobs)


def main() -> None:
    """Print the table."""
    before = enqueue_floor(FROM_PRODUCERS)
    with workload() as load, running(load):
        speeds = {
            "rxferrix_lab, one by one": anyio.run(one_by_one, load, ONE_BY_ONE),
            f"rxferrix_lab, {PRODUCERS} producers": anyio.run(from_producers, load, FROM_PRODUCERS),
            "rxferrix_lab, in bulk": in_bulk(load, BULK),
        }
    floor = better(before, enqueue_floor(FROM_PRODUCERS))
    print_floor(floor)
    for name, speed in speeds.items():
        print_speed(name, speed, floor)


if __name__ == "__main__":
    main()
