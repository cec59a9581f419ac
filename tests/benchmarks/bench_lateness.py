"""How late jobs begin: 200 of them, one every 50 ms, each due one second after it was made.

Run it from the root of the repository: `python -m tests.benchmarks.bench_lateness [PENDING]`. It is
measured in an idle app, then with 1,000,000 jobs pending (or as many as were asked for). The floor
is how late this machine wakes a thread that sleeps 50 ms, in the same run.
"""

import sys
from datetime import datetime, timedelta
from time import sleep

from rxferrix_lab import ActionCtx, MutationCtx, Schedulable
from tests.benchmarks.floor import print_row
from tests.benchmarks.workload import Workload, far_off, now, running, workload

JOBS = 200
EVERY = timedelta(milliseconds=50)
AHEAD = timedelta(seconds=1)
PENDING = 1_000_000


class Lateness:
    """Jobs that note at their first line how late they are, in milliseconds."""

    def __init__(self, load: Workload) -> None:
        self._load = load
        self._noted: list[float] = []
        self.mutation = load.app.mutation(self._mutate)
        self.action = load.app.action(self._act)
        self._plan = load.app.mutation(self._make_due)

    def measure(self, job: Schedulable[[datetime], None]) -> list[float]:
        """How late each of 200 jobs began, in order of lateness."""
        self._noted.clear()
        for _ in range(JOBS):
            self._load.app.call(self._plan, job.name, now() + AHEAD)
            sleep(EVERY.total_seconds())
        sleep(2 * AHEAD.total_seconds())
        return sorted(self._noted)

    def _make_due(self, ctx: MutationCtx, job: str, due: datetime) -> None:
        target = self.mutation if job == self.mutation.name else self.action
        ctx.scheduler.run_at(due, target, due)

    def _mutate(self, ctx: MutationCtx, due: datetime) -> None:
        self._note(due)
        ctx.db.insert("notes", {"text": "on time"})

    async def _act(self, ctx: ActionCtx, due: datetime) -> None:
        del ctx
        self._note(due)

    def _note(self, due: datetime) -> None:
        self._noted.append(milliseconds(now() - due))


def sleeping() -> list[float]:
    """How late a plain sleep returns, in order of lateness."""
    late: list[float] = []
    for _ in range(JOBS):
        due = now() + EVERY
        sleep(EVERY.total_seconds())
        late.append(milliseconds(now() - due))
    return sorted(late)


def milliseconds(lateness: timedelta) -> float:
    """A duration as a number."""
    return lateness / timedelta(milliseconds=1)


def print_lateness(name: str, late: list[float]) -> None:
    """The median, the 99th percentile, and how many of the jobs began at all."""
    p50, p99 = (late[int(len(late) * share)] for share in (0.5, 0.99))
    print_row(name, f"{p50:.1f}", f"{p99:.1f}", str(len(late)))


def main() -> None:
    """Print the table."""
    pending = int(sys.argv[1]) if len(sys.argv) > 1 else PENDING
    print_row("lateness, ms", "p50", "p99", "jobs")
    print_lateness("floor: a sleep of 50 ms", sleeping())
    with workload() as load, running(load):
        lateness = Lateness(load)
        print_lateness("mutations, idle", lateness.measure(lateness.mutation))
        print_lateness("actions, idle", lateness.measure(lateness.action))
        load.enqueue(pending, far_off())
        print_lateness(f"mutations, {pending:,} pending", lateness.measure(lateness.mutation))
        print_lateness(f"actions, {pending:,} pending", lateness.measure(lateness.action))


if __name__ == "__main__":
    main()
