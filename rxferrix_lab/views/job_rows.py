"""Jobs as rows of a grid: text in the zone, a chip for the state, the buttons that make sense."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from rxferrix_lab.domain.job import CANCELABLE, FINISHED, RERUNNABLE, JobRecord
from rxferrix_lab.views.grid import Action, Column
from rxferrix_lab.views.labels import NONE, ago, duration, instant, number, short

COLUMNS = (
    Column("id", "Id", align="right", sort="id", look="mono"),
    Column("function", "Function", sort="function"),
    Column("args", "Arguments", look="mono", room="wide"),
    Column("state", "State", sort="state"),
    Column("pool", "Pool", sort="pool", look="quiet", room="wide"),
    Column("attempt", "Attempt", align="right", sort="attempt"),
    Column("asked", "Asked for", sort="asked"),
    Column("waited", "Waited", align="right", sort="waited", room="wide"),
    Column("ran", "Ran", align="right", sort="ran", room="middle"),
    Column("due", "Next try", sort="due", room="middle"),
    Column("error", "Error", look="quiet", room="middle"),
    Column("trigger", "Trigger", sort="trigger", look="quiet", room="wide"),
)
NOTHING = timedelta(0)  # a row may be younger than the picture's time
CANCEL = Action("cancel", "Cancel", "M4 4l8 8M12 4l-8 8")
RERUN = Action("rerun", "Run again", "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3")


def rows_of(
    jobs: Iterable[JobRecord], zone: str, now: datetime, *, with_buttons: bool
) -> list[dict[str, Any]]:
    """One row for each job."""
    return [_row(job, zone, now, with_buttons=with_buttons) for job in jobs]


def _row(job: JobRecord, zone: str, now: datetime, *, with_buttons: bool) -> dict[str, Any]:
    return {
        "_id": str(job.id),
        "id": number(job.id),
        "function": job.function,
        "args": short(job.args, 48) if job.args != "{}" else "",
        "state": {"chip": job.state, "note": state_note(job)},
        "pool": job.pool or "",
        "attempt": f"{job.attempt} of {job.max_attempts}",
        "asked": instant(job.scheduled_for, zone),
        "waited": waited(job, now),
        "ran": ran(job, now),
        "due": ago(job.due_at, now) if job.state == "pending" and job.due_at > now else "",
        "trigger": trigger_text(job),
        "error": short(f"{job.error.type}: {job.error.message}", 80) if job.error else "",
        "_actions": buttons(job) if with_buttons else [],
    }


def buttons(job: JobRecord) -> list[str]:
    """What can be done with a job in its state."""
    if job.state in CANCELABLE:
        return [CANCEL.name]
    return [RERUN.name] if job.state in RERUNNABLE else []


def state_note(job: JobRecord) -> str:
    """What the state's word leaves out."""
    if job.state == "pending" and job.attempt > 0:
        return "(retry)"
    return ""


def trigger_text(job: JobRecord) -> str:
    """What made the job."""
    if job.cron is not None:
        return f"{job.trigger} {job.cron}"
    return job.trigger.replace("_", " ")


def waited(job: JobRecord, now: datetime) -> str:
    """From due until it began; for a job that is due, until now."""
    if job.state == "pending":
        return duration(now - job.due_at) if job.due_at <= now else NONE
    if job.started_at is None:
        return NONE
    return duration(max(job.started_at - job.due_at, NOTHING))


def ran(job: JobRecord, now: datetime) -> str:
    """How long the latest attempt took, or has taken so far."""
    if job.started_at is None or job.state == "pending":
        return NONE
    end = job.finished_at if job.state in FINISHED else now
    return duration(max(end - job.started_at, NOTHING)) if end is not None else NONE
