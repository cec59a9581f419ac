"""The sample app: it watches this machine, and mails digests of what it saw into a local outbox.

Read it from top to bottom to learn the API. Importing it declares everything and starts nothing.
"""

import os
from datetime import timedelta
from email.message import EmailMessage
from email.utils import format_datetime
from pathlib import Path

from dashboard.machine import Sample, load_per_core, take_sample
from rxferrix_lab import (
    ActionCtx,
    Failed,
    JobId,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    Workpool,
    WorkResult,
)

FOLDER = Path(os.environ.get("RXFERRIX_DEMO_DIR", Path(__file__).resolve().parent.parent))
OUTBOX = FOLDER / "outbox"
PACE = timedelta(milliseconds=800)  # the outbox takes one mail in so long

app = RxFerrix(FOLDER / "demo.duckdb")
app.table("samples", "taken_at TIMESTAMPTZ, load DOUBLE, memory DOUBLE, disk DOUBLE")
app.table("mails", "reader VARCHAR, sent_at TIMESTAMPTZ, outcome VARCHAR")
app.workpool(Workpool("mail", max_parallelism=2, retries=3))


@app.action
def measure(ctx: SyncActionCtx) -> None:
    """Look at the machine. A plain `def` action runs in a thread, so it may block."""
    ctx.run_mutation(record, take_sample(FOLDER))


@app.mutation(internal=True)
def record(ctx: MutationCtx, sample: Sample) -> None:
    """Keep a sample."""
    ctx.db.insert("samples", {"taken_at": ctx.now(), **vars(sample)})


@app.query
def last_minute(ctx: QueryCtx) -> Sample:
    """The means of the samples of the last minute; zeros where there is none."""
    sql = "SELECT avg(load), avg(memory), avg(disk) FROM samples WHERE taken_at >= $since"
    [means] = ctx.db.sql(sql, since=ctx.now() - timedelta(minutes=1)).fetchall()
    return Sample(*(mean or 0.0 for mean in means))


@app.mutation
def send_digests(ctx: MutationCtx) -> None:
    """Mail a digest to each reader. The rows and the jobs commit together, or not at all."""
    for reader in ("ana", "bogdan", "carmen"):
        mail = ctx.db.insert("mails", {"reader": reader})
        ctx.scheduler.pool("mail").on_complete(note, mail).enqueue(send, mail, reader)


@app.action
async def send(ctx: ActionCtx, mail: int, reader: str) -> str:
    """Write one mail. It fails where the outbox refuses, and is tried again a little later."""
    seen = await ctx.run_query(last_minute)
    await ctx.run_mutation(take_turn, mail)
    message = EmailMessage()
    message["From"], message["To"] = "rxferrix@localhost", f"{reader}@localhost"
    message["Date"], message["Subject"] = format_datetime(ctx.now()), f"Load {seen.load:.2f}"
    message.set_content(f"load {seen.load:.2f}\nmemory {seen.memory:.0%}\ndisk {seen.disk:.0%}\n")
    OUTBOX.mkdir(exist_ok=True)
    file = OUTBOX / f"{mail:06}-{reader}.eml"
    file.write_bytes(message.as_bytes())
    return file.name


@app.mutation(internal=True)
def take_turn(ctx: MutationCtx, mail: int) -> None:
    """The outbox's rate limit. One mutation follows another, so no two mails share a turn."""
    last = ctx.db.sql("SELECT max(sent_at) FROM mails").scalar()
    if last is not None and ctx.now() - last < PACE:
        raise ConnectionRefusedError(f"the outbox takes one mail every {PACE.total_seconds()} s")
    ctx.db.patch("mails", mail, {"sent_at": ctx.now()})


@app.mutation(internal=True)
def note(ctx: MutationCtx, work_id: JobId, mail: int, result: WorkResult[str]) -> None:
    """Runs exactly once for each mail: when it was sent, was given up, or was canceled."""
    outcome = result.error.message if isinstance(result, Failed) else type(result).__name__
    ctx.db.patch("mails", mail, {"outcome": f"job {work_id}: {outcome}"})


@app.action
async def watch(ctx: ActionCtx, seconds: int = 20) -> float:
    """The highest load in a while. Cancel it in the dashboard: it stops within a second."""
    highest = 0.0
    for second in range(seconds):
        if ctx.is_canceled():
            break
        highest = max(highest, load_per_core())
        ctx.progress(second + 1, seconds, f"highest {highest:.2f}")
        await ctx.sleep(timedelta(seconds=1))
    return highest


@app.mutation
def purge(ctx: MutationCtx, hours: int = 1) -> int:
    """Delete old samples, and say how many they were."""
    before = ctx.now() - timedelta(hours=hours)
    return ctx.db.sql("DELETE FROM samples WHERE taken_at < $before", before=before).rowcount


app.interval("measure", timedelta(seconds=3), measure)
app.interval("digests", timedelta(seconds=15), send_digests)
app.interval("watch", timedelta(seconds=40), watch)
app.cron("purge", "0 * * * * *", purge, hours=1)
app.cron_tz("good-morning", "0 0 9 * * *", "Europe/Bucharest", send_digests)
app.cron_tz("night-purge", "0 30 3 * * *", "Europe/Bucharest", purge)  # see Clock changes
