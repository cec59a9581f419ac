"""How fast due mutations drain, each inserting one row, beside raw DuckDB doing the same writes.

Run it from the root of the repository: `python -m tests.benchmarks.bench_drain`. The clock runs
from the start of the app until no job is left unrecorded. Read the ratios, not the rates.
"""

import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, sleep

from rxferrix_lab import MutationCtx, RxFerrix
from tests.benchmarks.floor import print_floor, print_rate, run_floor

JOBS = 50_000
AT_A_TIME = 10_000
GOAL = 20


def declared(path: Path) -> RxFerrix:
    """An app with one function that inserts a row, and one that schedules it many times."""
    app = RxFerrix(path)
    app.table("notes", "text VARCHAR")

    @app.mutation
    def note(ctx: MutationCtx) -> None:
        ctx.db.insert("notes", {"text": "a note"})

    @app.mutation
    def schedule(ctx: MutationCtx, jobs: int, due: datetime) -> None:
        for _ in range(jobs):
            ctx.scheduler.run_at(due, note)

    return app


def enqueue(app: RxFerrix, jobs: int, due: datetime) -> float:
    """Schedule the jobs; how many a second."""
    schedule = app.registry.functions["schedule"]
    began = perf_counter()
    for _ in range(0, jobs, AT_A_TIME):
        app.call(schedule, min(jobs, AT_A_TIME), due)
    return jobs / (perf_counter() - began)
