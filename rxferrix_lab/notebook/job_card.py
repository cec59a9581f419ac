"""A job as a card in a cell, and as plain text in a console.

Pure: one look at a job in, text out. Everything that came from a user is escaped.
"""

import json
from datetime import datetime
from itertools import pairwise

from rxferrix_lab.app.job_glance import JobGlance, Progress
from rxferrix_lab.domain.job import Job
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.views.labels import duration, esc, short
from rxferrix_lab.views.palette import mark

LONGEST_RESULT = 2000
FRAME = (
    "border:1px solid rgba(128,128,128,.35);border-radius:6px;padding:8px 12px;max-width:56rem;"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif);font-size:13px;line-height:1.5"
)
QUIET = "opacity:.7"
PRE = (
    "margin:4px 0 0;padding:6px 8px;max-height:20rem;overflow:auto;white-space:pre-wrap;"
    "background:rgba(128,128,128,.1);font-family:var(--jp-code-font-family,monospace);font-size:12px"
)


def job_html(look: JobGlance) -> str:
    """The card."""
    job = look.job
    parts = [
        (
            f"<div>{state_html(job.state)} <b>{esc(call_text(job))}</b> "
            f'<span style="{QUIET}">{esc(_facts(job))}</span></div>'
        ),
        f'<div style="{QUIET}">{esc(timeline_text(look))}</div>',
    ]
    if look.progress is not None:
        parts.append(_progress_html(look.progress))
    if job.state == "succeeded" and job.result is not None:
        parts.append(f"<div>result <code>{esc(_result_text(job))}</code></div>")
    if job.error is not None:
        parts.append(error_html(job.error))
    if look.output:
        parts.append(f'<pre style="{PRE}">{esc(look.output)}</pre>')
    return (
        f'<div class="rxferrix-job" data-state="{job.state}" style="{FRAME}">{"".join(parts)}</div>'
    )


def job_text(look: JobGlance) -> str:
    """The same for a console."""
    job = look.job
    lines = [f"{job.state} {call_text(job)}, {_facts(job)}", f"  {timeline_text(look)}"]
    if look.progress is not None:
        lines.append(f"  progress {_progress_text(look.progress)}")
    if job.state == "succeeded" and job.result is not None:
        lines.append(f"  result {_result_text(job)}")
    if job.error is not None:
        lines.append(f"  error {error_text(job.error)}")
    lines += [f"  | {line}" for line in look.output.splitlines()]
    return "\n".join(lines)


def state_html(state: str) -> str:
    """A state as icon and word."""
    found = mark(state)
    return (
        f'<span style="color:{found.colour};font-weight:600;white-space:nowrap">'
        f"{found.icon} {esc(found.text)}</span>"
    )


def call_text(job: Job) -> str:
    """The function with its arguments."""
    args = ", ".join(f"{name}={_json(value)}" for name, value in job.args.items())
    return f"{job.function}({short(args, 80)})"


def timeline_text(look: JobGlance) -> str:
    """What happened to the job and when, with the time between in words."""
    job = look.job
    moments: list[tuple[str, datetime]] = [("asked", job.created_at)]
    if job.due_at > job.created_at:
        moments.append(("due", job.due_at))
    if job.started_at is not None and (job.attempt == 1 or job.state != "pending"):
        moments.append(("began", job.started_at))
    if job.cancel_requested_at is not None:
        moments.append(("asked to stop", job.cancel_requested_at))
    if job.finished_at is not None:
        moments.append(("ended", job.finished_at))
    moments.sort(key=lambda moment: moment[1])
    first = f"{moments[0][0]} {moments[0][1]:%Y-%m-%d %H:%M:%S} UTC"
    steps = [
        f"{name} {duration(at - before)} later" for (_, before), (name, at) in pairwise(moments)
    ]
    return " → ".join([first, *steps]) + _open_end(look)


def _open_end(look: JobGlance) -> str:
    job = look.job
    if job.state == "pending":
        wait = job.due_at - look.now
        what = "next attempt" if job.attempt else "due"
        return f" ({what} in {duration(wait)})" if wait.total_seconds() > 0 else " (due now)"
    if not look.is_finished and job.started_at is not None:
        return f" (for {duration(look.now - job.started_at)} now)"
    return ""


def _facts(job: Job) -> str:
    facts = [f"job {job.id}"]
    if job.attempt and job.max_attempts > 1:
        facts.append(f"attempt {job.attempt} of {job.max_attempts}")
    facts += [f"pool {job.pool}"] if job.pool else []
    facts += [f"cron {job.cron}"] if job.cron else []
    facts += [f"catches up {job.missed} missed"] if job.missed else []
    facts += [f"scheduled by job {job.parent}"] if job.parent is not None else []
    return ", ".join(facts)


def _progress_text(progress: Progress) -> str:
    note = f" {progress.note}" if progress.note else ""
    return f"{progress.share:.0%}{note}"


def _progress_html(progress: Progress) -> str:
    return (
        f'<div><progress value="{progress.share:.4f}" max="1" style="width:16rem"></progress> '
        f"{esc(_progress_text(progress))}</div>"
    )


def error_text(error: JobError) -> str:
    """An error in one line."""
    cause = f" ({error.kind})" if error.kind != "error" else ""
    return f"{error.type}: {error.message}{cause}"


def error_html(error: JobError) -> str:
    """An error, with its traceback to be opened."""
    line = f'<span style="color:{mark("failed").colour}">{esc(error_text(error))}</span>'
    if not error.traceback:
        return f"<div>{line}</div>"
    return (
        f"<details><summary>{line}</summary>"
        f'<pre style="{PRE}">{esc(error.traceback)}</pre></details>'
    )


def _result_text(job: Job) -> str:
    text = _json(job.result)
    return text if len(text) <= LONGEST_RESULT else text[: LONGEST_RESULT - 1] + "…"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
