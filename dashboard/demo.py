"""The sample app: watches this machine and mails digests of it into a local outbox.

Read it from top to bottom to learn the API. Importing it declares everything and starts nothing:
`dashboard/app_hooks.py` starts the app in a server, `python -m dashboard.demo` without one.
"""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

from rxferrix_lab import (
    ActionCtx,
    Backoff,
    Failed,
    JobId,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    Workpool,
    WorkResult,
)

FOLDER = Path(os.environ.get("RXFERRIX_DEMO_DIR", "."))
OUTBOX = FOLDER / "outbox"
READERS = ("ana", "bogdan", "carmen")
PACE = timedelta(seconds=1)  # the outbox takes one mail in so long
HISTORY = timedelta(hours=1)

app = RxFerrix(FOLDER / "demo.duckdb")
app.table("samples", "at TIMESTAMPTZ, load DOUBLE, memory DOUBLE, disk DOUBLE")
app.table("mails", "reader VARCHAR, sent_at TIMESTAMPTZ, outcome VARCHAR")
app.workpool(Workpool("mail", max_parallelism=2, retries=2, backoff=Backoff(initial=PACE)))


@dataclass(frozen=True)
class Sample:
    """The load per core, and the shares of memory and disk in use."""

    load: float
    memory: float
    disk: float


@app.action
def measure(ctx: SyncActionCtx) -> Sample:
    """A plain `def` action runs in a thread, so it may block."""
    disk = shutil.disk_usage(FOLDER)
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    sample = Sample(load, memory_in_use(), disk.used / disk.total)
    ctx.run_mutation(record, sample)
    return sample


@app.mutation(internal=True)
def record(ctx: MutationCtx, sample: Sample) -> None:
    ctx.db.insert("samples", {"at": ctx.now(), **vars(sample)})


@app.query
def averages(ctx: QueryCtx, since: datetime, until: datetime) -> Sample:
    """The means of all samples in a span; zeros where there is none."""
    rows = ctx.db.sql(
        "SELECT avg(load), avg(memory), avg(disk) FROM samples WHERE at BETWEEN $since AND $until",
        since=since,
        until=until,
    )
    return Sample(*(mean or 0.0 for mean in rows.fetchall()[0]))


@app.mutation
def send_digests(ctx: MutationCtx) -> None:
    """The rows and the jobs that mail them commit together, or not at all."""
    for reader in READERS:
        mail = ctx.db.insert("mails", {"reader": reader})
        pool = ctx.scheduler.pool("mail").on_complete(note_outcome, mail)
        pool.enqueue(send_digest, mail, reader, ctx.now())


@app.action
async def send_digest(ctx: ActionCtx, mail: int, reader: str, until: datetime) -> str:
    """Fails while the outbox is busy, and is tried again: the file is the same each time."""
    means = await ctx.run_query(averages, until - timedelta(minutes=1), until)
    await ctx.run_mutation(take_turn, mail)
    message = EmailMessage()
    message["From"], message["To"] = "rxferrix@localhost", f"{reader}@localhost"
    message["Date"], message["Subject"] = format_datetime(ctx.now()), f"Load {means.load:.2f}"
    message.set_content(f"load {means.load:.2f}\nmemory {means.memory:.0%}\ndisk {means.disk:.0%}")
    OUTBOX.mkdir(exist_ok=True)
    file = OUTBOX / f"{mail:06}-{reader}.eml"
    file.write_bytes(message.as_bytes())
    return file.name


@app.mutation(internal=True)
def take_turn(ctx: MutationCtx, mail: int) -> None:
    """The outbox's rate limit. Mutations come one after another: no two take the same turn."""
    last = ctx.db.sql("SELECT max(sent_at) FROM mails").scalar()
    if last is not None and ctx.now() - last < PACE:
        raise ConnectionRefusedError(f"the outbox takes one mail every {PACE.total_seconds():g} s")
    ctx.db.patch("mails", mail, {"sent_at": ctx.now()})


@app.mutation(internal=True)
def note_outcome(ctx: MutationCtx, work_id: JobId, mail: int, result: WorkResult[str]) -> None:
    """Runs exactly once for each mail that was sent, failed for good, or was canceled."""
    outcome = result.error.message if isinstance(result, Failed) else type(result).__name__
    ctx.db.patch("mails", mail, {"outcome": f"job {work_id}: {outcome}"})


@app.action
async def watch_load(ctx: ActionCtx, seconds: int = 20) -> float:
    """The highest load in a while. Cancel it in the dashboard: it stops within a second."""
    highest = 0.0
    for second in range(seconds):
        if ctx.is_canceled():
            break
        highest = max(highest, os.getloadavg()[0])
        ctx.progress(second + 1, seconds, f"highest {highest:.2f}")
        await ctx.sleep(timedelta(seconds=1))
    return highest


@app.mutation
def purge(ctx: MutationCtx) -> int:
    deleted = ctx.db.sql("DELETE FROM samples WHERE at < $before", before=ctx.now() - HISTORY)
    return deleted.rowcount


app.interval("measure", timedelta(seconds=2), measure)
app.interval("digests", timedelta(seconds=15), send_digests)
app.interval("watch", timedelta(seconds=40), watch_load)
app.cron("purge", "0 * * * * *", purge)
app.cron_tz("good-morning", "0 0 9 * * *", "Europe/Bucharest", send_digests)


def memory_in_use() -> float:
    """The share of the memory in use, from /proc on Linux and vm_stat on macOS."""
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        kib = {name: int(size) for name, size in re.findall(r"(\w+):\s+(\d+)", meminfo.read_text())}
        return 1 - kib["MemAvailable"] / kib["MemTotal"]
    pages = subprocess.run(["vm_stat"], capture_output=True, text=True, check=True).stdout
    free = re.findall(r"Pages (?:free|inactive|speculative):\s+(\d+)", pages)
    return 1 - sum(map(int, free)) / os.sysconf("SC_PHYS_PAGES")


if __name__ == "__main__":
    app.run()
