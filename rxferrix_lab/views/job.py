"""One job: its life, what it was given, what came out, and why it has not run."""

import json
from datetime import datetime
from typing import Any

import panel as pn
import panel_material_ui as pmui

from rxferrix_lab.domain.job import UNFINISHED, JobId, JobRecord
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.picture import JobDetails, LogRow
from rxferrix_lab.views.card import BORDER, card, empty, html, pairs, put
from rxferrix_lab.views.job_rows import buttons, ran, trigger_text, waited
from rxferrix_lab.views.job_timeline import timeline
from rxferrix_lab.views.labels import NONE, duration, esc, full_instant
from rxferrix_lab.views.operate import perform
from rxferrix_lab.views.palette import state_chip
from rxferrix_lab.views.reloading import Reloading
from rxferrix_lab.views.usual_duration import usual_duration


def view(model: LiveModel, controls: Controls | None = None) -> pn.viewable.Viewable:
    """The job that the controls name, live."""
    return JobPageView(model, controls or Controls()).layout


class JobPageView:
    """One session's look at one job."""

    def __init__(self, model: LiveModel, controls: Controls) -> None:
        self._model = model
        self._controls = controls
        self._job = JobId(controls.job)
        self._details: JobDetails | None = None  # null: none was loaded, or there is none
        self._has_loaded = False
        self._loading = Reloading(self._load)
        names = ("head", "life", "facts", "given", "outcome", "attempts", "usual", "live")
        self._parts = {name: html() for name in names}
        self._parts["head"].sizing_mode = None
        put(self._parts["head"], '<span class="rx-quiet">Loading…</span>')
        self._cancel = pmui.Button(label="Cancel", size="small", variant="outlined", color="error")
        self._rerun = pmui.Button(label="Run again", size="small", variant="outlined")
        self._cancel.visible = self._rerun.visible = False
        self.layout = self._laid_out()
        self._wire()

    def _laid_out(self) -> pn.viewable.Viewable:
        back = pmui.Button(label="All jobs", icon="arrow_back", size="small", variant="text")
        back.on_click(self._left)
        parts = self._parts
        half: dict[str, Any] = {"styles": BORDER | {"flex": "1 1 320px"}}
        return pn.Column(
            pn.FlexBox(
                back, parts["head"], self._cancel, self._rerun, align_items="center", gap="10px"
            ),
            card("Its life", parts["life"], parts["live"]),
            pn.FlexBox(
                card("About", parts["facts"], **half),
                card("Arguments and result", parts["given"], **half),
                align_items="stretch",
                sizing_mode="stretch_width",
            ),
            parts["outcome"],
            card("Attempts", parts["attempts"]),
            card("How long it usually takes", parts["usual"]),
            sizing_mode="stretch_width",
            margin=(0, 4),
        )

    def _wire(self) -> None:
        self._cancel.on_click(self._canceled)
        self._rerun.on_click(self._rerun_clicked)
        watched = (
            self._model.param.watch(self._changed, ["version", "progress"]),
            self._model.param.watch(self._draw, ["now"]),
        )
        zone = self._controls.param.watch(self._draw, ["zone"])

        def closed(*_: object) -> None:
            for watcher in watched:
                self._model.param.unwatch(watcher)
            self._controls.param.unwatch(zone)
            self._controls.param.unwatch(closing)

        closing = self._controls.param.watch(closed, ["job"])
        self._loading.soon()

    def _left(self, event: object) -> None:
        del event
        self._controls.job = 0

    def _changed(self, *_: object) -> None:
        job = self._details.job if self._details is not None else None
        if job is None or job.state in UNFINISHED or job.on_complete:
            self._loading.soon()

    async def _load(self) -> None:
        self._details = await perform(self._model.job(self._job))
        self._has_loaded = True
        self._draw()

    # --- showing --------------------------------------------------------------------------------
    def _draw(self, *_: object) -> None:
        details, parts = self._details, self._parts
        if not self._has_loaded:
            return
        if details is None:
            hint = "It never existed, or it ended and was deleted after the keep period."
            put(parts["head"], empty(f"There is no job {self._job}.", hint))
            return
        job, zone, now = details.job, self._controls.zone, self._model.now
        title = f'<b style="font-size:16px">Job {job.id} · {esc(job.function)}</b> '
        put(parts["head"], title + state_chip(job.state))
        put(parts["life"], _why(details) + timeline(details, zone, now))
        put(parts["live"], self._live(job))
        put(parts["facts"], _facts(details, zone, now))
        put(parts["given"], _given(job))
        put(parts["outcome"], _error_card(job.error) if job.error is not None else "")
        put(parts["attempts"], _attempts(details, zone))
        this = job.finished_at - job.started_at if job.finished_at and job.started_at else None
        put(parts["usual"], usual_duration(details.usual, this))
        may = self._model.operator.may_operate
        self._cancel.visible = may and "cancel" in buttons(job)
        self._rerun.visible = may and "rerun" in buttons(job)

    def _live(self, job: JobRecord) -> str:
        told = next((each for each in self._model.progress if each.job == job.id), None)
        if told is None or job.state not in UNFINISHED:
            return ""
        output = f'<div class="rx-pre">{esc(told.output)}</div>' if told.output else ""
        return progress_bar(told.progress) + output

    # --- doing ----------------------------------------------------------------------------------
    async def _canceled(self, event: object) -> None:
        del event
        await perform(
            self._model.operator.cancel(self._job), f"Job {self._job} is canceled or stopping."
        )

    async def _rerun_clicked(self, event: object) -> None:
        del event
        new = await perform(
            self._model.operator.rerun(self._job), lambda new: f"Job {new} runs it again."
        )
        if new is not None:
            self._controls.job = int(new)


def told_progress(told: str) -> tuple[float, float, str] | None:
    """How much of how much is done, and a note; None where it cannot be read."""
    try:
        progress: dict[str, Any] = json.loads(told)
        return float(progress["done"]), float(progress["total"]), str(progress["note"])
    except (ValueError, KeyError, TypeError):
        return None


def progress_bar(told: str) -> str:
    """What an action told of its progress, as HTML; empty where it told none."""
    progress = told_progress(told)
    if progress is None:
        return ""
    done, total, note = progress
    share = min(max(done / total, 0.0), 1.0) if total else 0.0
    return (
        '<div class="rx-bar"><div>'
        f'<i style="width:{share * 100:.1f}%"></i></div>'
        f'<span class="rx-quiet">{share * 100:.0f} % · {done:g} of {total:g} {esc(note)}</span>'
        "</div>"
    )


def _why(details: JobDetails) -> str:
    return f'<p style="margin:0 0 12px">{esc(details.why)}</p>' if details.why else ""


def _facts(details: JobDetails, zone: str, now: datetime) -> str:
    job = details.job
    rows = [
        ("Kind", esc(job.kind)),
        ("Trigger", esc(trigger_text(job))),
        ("Pool", esc(job.pool) if job.pool is not None else "in no pool"),
        ("Attempt", f"{job.attempt} of {job.max_attempts}"),
        ("Asked for", esc(full_instant(job.scheduled_for, zone))),
        ("Waited", esc(waited(job, now))),
        ("Ran", esc(ran(job, now))),
    ]
    if job.missed:
        rows.append(("Missed", f"{job.missed} occurrences passed unseen, this one included"))
    rows += [
        ("Made by job", _link(details.parent) if job.parent else NONE),
        ("On complete", _completion(details)),
        ("Jobs it made", ", ".join(_link(child) for child in details.children) or NONE),
    ]
    return pairs(rows)


def _completion(details: JobDetails) -> str:
    job = details.job
    if details.completion is not None:
        return _link(details.completion)
    return f"{esc(job.on_complete)}, when it ends" if job.on_complete else NONE


def _link(job: JobRecord | None) -> str:
    if job is None:
        return "a job that has been deleted"
    return (
        f'<a class="rx-link" href="?section=jobs&amp;job={job.id}">'
        f"job {job.id} {esc(job.function)}</a> " + state_chip(job.state)
    )


def _given(job: JobRecord) -> str:
    result = job.result if job.result is not None else None
    shown = _json(result) if result is not None else f"{NONE} not succeeded"
    return (
        f'<div class="rx-quiet">Arguments</div><div class="rx-pre">{esc(_json(job.args))}</div>'
        '<div class="rx-quiet" style="margin-top:8px">Result</div>'
        f'<div class="rx-pre">{esc(shown)}</div>'
    )


def _json(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except ValueError:
        return text


def _error_card(error: JobError) -> str:
    trace = f'<div class="rx-pre">{esc(error.traceback)}</div>' if error.traceback else ""
    return (
        f'<div class="rx-card" style="margin:5px"><div class="rx-h">Error · {esc(error.kind)}</div>'
        f'<p style="margin:0 0 8px"><b>{esc(error.type)}</b> {esc(error.message)}</p>{trace}</div>'
    )


def _attempts(details: JobDetails, zone: str) -> str:
    rows = "".join(_attempt(row, zone) for row in details.executions)
    if not rows and details.job.state in ("running", "canceling"):
        return empty(f"Attempt {details.job.attempt} runs.", "It gets a row here once it ends.")
    if not rows:
        return empty("It has not been attempted.", "Each attempt gets a row here.")
    head = (
        "<tr><th>Attempt</th><th>Began</th><th>Took</th><th>Outcome</th><th>What it said</th></tr>"
    )
    return f'<table class="rx-list">{head}{rows}</table>'


def _attempt(row: LogRow, zone: str) -> str:
    entry = row.entry
    said = f"{esc(entry.error.type)}: {esc(entry.error.message)}" if entry.error else ""
    said += f'<div class="rx-pre">{esc(entry.output)}</div>' if entry.output else ""
    said += progress_bar(entry.progress or "") + (esc(entry.detail) if entry.detail else "")
    return (
        f"<tr><td>{entry.attempt}</td><td>{esc(full_instant(entry.started_at, zone))}</td>"
        f"<td>{esc(duration(entry.finished_at - entry.started_at))}</td>"
        f"<td>{state_chip(entry.outcome)}</td><td>{said or NONE}</td></tr>"
    )
