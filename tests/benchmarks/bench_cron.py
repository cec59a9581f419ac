"""How fast a cron is read, finds its next run and lists a year, beside croniter in the same run.

Run it from the root of the repository: `python tests/benchmarks/bench_cron.py`. Read the ratios;
the absolute figures are this machine's.
"""

import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from time import process_time

from croniter import croniter  # type: ignore[import-untyped]  # it ships no types

sys.path.insert(0, str(Path(__file__).parents[2]))

from rxferrix_lab.domain.cron import CronSchedule

START = datetime(2026, 5, 5, 7, 13, 5, tzinfo=UTC)
NEXT_FIRE = [
    ("hourly UTC", "0 0 * * * *", "UTC", 6),
    ("09:00 Bucharest", "0 0 9 * * *", "Europe/Bucharest", 12),
    ("29 February", "0 0 0 29 2 *", "UTC", 40),
]
TURNS = 20_000
ROUNDS = 5


def cpu_s(work: Callable[[], object], turns: int) -> float:
    """CPU seconds of one turn: the best of several rounds, so that a neighbour counts least."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = process_time()
        for _ in range(turns):
            work()
        best = min(best, process_time() - begin)
    return best / turns


def next_fire() -> None:
    """Print one line for each expression: microseconds for one next run of one parsed object."""
    print_row("next fire, µs", "ours", "reach", "croniter", "times faster")
    for name, expr, zone, reach in NEXT_FIRE:
        schedule = CronSchedule(expr, zone)
        start = START.astimezone(schedule.tz)
        peer = croniter(expr, start, second_at_beginning=True)
        ours_us = cpu_s(partial(schedule.next, start), TURNS) * 1e6
        peer_us = cpu_s(partial(peer.get_next, datetime, start_time=start), TURNS // 10) * 1e6
        print_row(name, f"{ours_us:.1f}", str(reach), f"{peer_us:.1f}", f"{peer_us / ours_us:.1f}")


def reading() -> None:
    """Print the microseconds in which an expression becomes a schedule, which is done once."""
    print_row("reading an expression, µs", "ours", "", "croniter", "times faster")
    expr = "0 */5 9-17 * * MON-FRI"
    ours_us = cpu_s(partial(CronSchedule, expr, "Europe/Bucharest"), TURNS // 20) * 1e6
    peer = partial(croniter, expr, START, second_at_beginning=True)
    peer_us = cpu_s(peer, TURNS // 20) * 1e6
    print_row(expr, f"{ours_us:.0f}", "", f"{peer_us:.0f}", f"{peer_us / ours_us:.1f}")


def year() -> None:
    """Print the milliseconds in which a year of every 5 minutes is listed, notes included."""
    start = datetime(2025, 12, 31, 23, 59, tzinfo=UTC)
    end = start + timedelta(days=365)
    print_row("every 5 minutes, a year, ms", "ours", "reach", "croniter", "times faster")
    for zone in ("UTC", "Europe/Bucharest"):
        schedule = CronSchedule("0 */5 * * * *", zone)
        runs = schedule.count(start, end)
        ours_ms = cpu_s(partial(schedule.occurrences, start, end), 1) * 1e3
        peer_ms = croniter_year_s(start, runs) * 1e3
        name = f"{zone}, {runs:,} runs"
        print_row(name, f"{ours_ms:.0f}", "100", f"{peer_ms:.0f}", f"{peer_ms / ours_ms:.1f}")


def print_row(name: str, *columns: str) -> None:
    """Print a name and its columns, in line with the rows above."""
    print(f"{name:<32}" + "".join(f"{column:>14}" for column in columns))


def croniter_year_s(start: datetime, runs: int) -> float:
    """CPU seconds in which croniter iterates as many runs, in UTC, where it is right."""
    peer = croniter("0 */5 * * * *", start, second_at_beginning=True)
    begin = process_time()
    for _ in range(runs):
        peer.get_next(datetime)
    return process_time() - begin


if __name__ == "__main__":
    next_fire()
    reading()
    year()
