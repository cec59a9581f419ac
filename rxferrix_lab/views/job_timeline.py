"""A job's life as steps with the durations between: asked, due, each attempt, the end."""

from dataclasses import dataclass
from datetime import datetime

from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.reactive.picture import JobDetails
from rxferrix_lab.views.labels import ago, clock_time, duration, esc, full_instant
from rxferrix_lab.views.palette import ACCENT, QUIET, VIOLET, colour

_STYLE = """<style>
.rx-steps { display: flex; flex-wrap: wrap; align-items: flex-start;
  row-gap: 26px; margin: 18px 0 4px; }
.rx-step { min-width: 92px; }
.rx-step i { display: block; width: 12px; height: 12px; border-radius: 50%; margin-bottom: 6px;
  background: var(--tone); }
.rx-step.coming i { background: none; box-shadow: inset 0 0 0 2px var(--tone); }
.rx-step b { display: block; font-weight: 500; }
.rx-step span { color: var(--rx-quiet); font-size: 12px; }
.rx-gap { flex: 1 1 60px; max-width: 220px; min-width: 60px; margin: 5px 8px 0 -76px;
  padding-left: 2px; border-top: 2px solid var(--rx-line); color: var(--rx-quiet);
  font-size: 12px; text-align: center; }
.rx-gap em { font-style: normal; position: relative; top: -22px; }
</style>"""


@dataclass(frozen=True, slots=True)
class Step:
    """One moment of a job's life."""

    title: str
    at: datetime
    tone: str
    is_coming: bool = False


def timeline(details: JobDetails, zone: str, now: datetime) -> str:
    """The steps of a job, as HTML."""
    parts: list[str] = []
    before: Step | None = None
    for step in steps_of(details):
        if before is not None:
            parts.append(f'<div class="rx-gap"><em>{esc(duration(step.at - before.at))}</em></div>')
        parts.append(_shown(step, zone, now))
        before = step
    return f'{_STYLE}<div class="rx-steps">{"".join(parts)}</div>'


def steps_of(details: JobDetails) -> list[Step]:
    """What has happened to a job and, where it is pending, what comes next."""
    job = details.job
    steps = [Step("Asked", job.created_at, QUIET)]
    if job.scheduled_for > job.created_at:
        is_coming = job.state == "pending" and not job.attempt and job.started_at is None
        steps.append(Step("Due", job.scheduled_for, VIOLET, is_coming=is_coming))
    steps += _attempts(details)
    if job.cancel_requested_at is not None:
        steps.append(Step("Cancel asked", job.cancel_requested_at, colour("canceling")))
    if job.state == "pending" and job.attempt:
        steps.append(Step(f"Attempt {job.attempt + 1}", job.due_at, VIOLET, is_coming=True))
    if job.finished_at is not None:
        steps.append(Step(job.state.capitalize(), job.finished_at, colour(job.state)))
    return sorted(steps, key=lambda step: step.at)


def _attempts(details: JobDetails) -> list[Step]:
    job: JobRecord = details.job
    steps: list[Step] = []
    for row in details.executions:
        entry = row.entry
        if entry.kind is None or entry.outcome == "skipped":
            continue
        steps.append(Step(f"Attempt {entry.attempt}", entry.started_at, ACCENT))
        if job.finished_at is None or entry.finished_at < job.finished_at:
            steps.append(Step(entry.outcome.capitalize(), entry.finished_at, colour(entry.outcome)))
    is_running = job.state in ("running", "canceling") and job.started_at is not None
    if is_running and job.started_at is not None:
        steps.append(Step(f"Attempt {job.attempt}", job.started_at, ACCENT))
    return steps


def _shown(step: Step, zone: str, now: datetime) -> str:
    when = ago(step.at, now) if step.is_coming else clock_time(step.at, zone)
    look = "rx-step coming" if step.is_coming else "rx-step"
    return (
        f'<div class="{look}" style="--tone:{step.tone}" '
        f'title="{esc(full_instant(step.at, zone))}">'
        f"<i></i><b>{esc(step.title)}</b><span>{esc(when)}</span></div>"
    )
