"""The overview: how busy, how late, how well; what comes next, and what fails."""

from typing import Any

import panel as pn

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.picture import FailureGroup, NextRun
from rxferrix_lab.views.card import BORDER, card, empty, html, put, tile, tiles
from rxferrix_lab.views.labels import NONE, ago, duration, esc, instant, number, percent, short
from rxferrix_lab.views.palette import ACCENT, GAP, GOOD, VIOLET, state_chip
from rxferrix_lab.views.throughput import ENDED, Throughput


def view(model: LiveModel, controls: Controls | None = None) -> pn.viewable.Viewable:
    """The app at a glance."""
    chosen = controls or Controls()
    top, coming, failing = html(), html(), html()
    plot = Throughput(chosen.zone)

    def show(*_: object) -> None:
        put(top, _tiles(model))
        put(coming, _next_runs(model, chosen.zone))
        put(failing, _failures(model, chosen.zone))
        plot.show(model.overview.throughput, model.now, chosen.zone)

    model.param.watch(show, ["now", "counts", "overview", "health", "pools"])
    chosen.param.watch(show, ["zone"])
    show()
    half: dict[str, Any] = {"min_width": 330, "styles": BORDER | {"flex": "1 1 330px"}}
    legend = html(" ".join(state_chip(state) for state in ENDED), align="end")
    return pn.Column(
        pn.Row(top, margin=(5, 5), sizing_mode="stretch_width"),
        card("Jobs that ended in the last hour, by minute", legend, plot.pane),
        pn.FlexBox(
            card("Next ten cron runs", coming, **half),
            card("Failures of the last 24 hours", failing, **half),
            align_items="stretch",
            sizing_mode="stretch_width",
        ),
        sizing_mode="stretch_width",
        margin=0,
    )


def _tiles(model: LiveModel) -> str:
    counts, past, health = model.counts, model.overview, model.health
    waits = model.now - counts.oldest_due_at if counts.oldest_due_at is not None else None
    ended = past.succeeded + past.failed
    return tiles(
        [
            tile(
                "Running",
                number(counts.running + counts.canceling),
                f"{number(health.slots_in_use)} of {number(health.slots)} slots",
                ACCENT,
            ),
            tile(
                "Due",
                number(counts.due),
                f"oldest waits {duration(waits)}" if waits is not None else "nothing waits",
                VIOLET,
            ),
            tile(
                "Failed, 24 h",
                number(past.failed),
                f"{number(counts.retrying)} waiting for a retry",
                GAP if past.failed else "inherit",
            ),
            tile(
                "Success, 24 h",
                percent(past.success_rate),
                f"of {number(ended)} jobs" if ended else "no job has ended yet",
                GOOD,
            ),
            tile("Lateness, p99", duration(health.lateness_p99), _lateness_note(model)),
        ]
    )


def _lateness_note(model: LiveModel) -> str:
    if model.health.lateness_p50 is None:
        return "no job has run yet"
    return f"p50 {duration(model.health.lateness_p50)}, last 500 jobs"


def _next_runs(model: LiveModel, zone: str) -> str:
    runs: tuple[NextRun, ...] = model.overview.next_runs
    if not runs:
        if model.crons:
            return empty("No run is coming.", "Every cron is paused; resume one under Crons.")
        return empty(
            "No cron is declared.", 'Add one: app.cron("hourly", "0 0 * * * *", my_mutation)'
        )
    rows = "".join(
        f'<tr><td>{esc(short(run.cron, 60))} <span class="rx-quiet">{esc(run.words)}</span></td>'
        f'<td class="rx-right">{esc(instant(run.at, zone))}</td>'
        f'<td class="rx-right rx-quiet">{esc(ago(run.at, model.now))}</td></tr>'
        for run in runs
    )
    return f'<table class="rx-list">{rows}</table>'


def _failures(model: LiveModel, zone: str) -> str:
    groups: tuple[FailureGroup, ...] = model.overview.failures
    if not groups:
        return empty("Nothing failed.", "What fails is grouped here by function and exception.")
    head = '<tr><th>Function and exception</th><th class="rx-right">Jobs</th><th>Last</th></tr>'
    return (
        f'<table class="rx-list">{head}{"".join(_failure(group, zone) for group in groups)}</table>'
    )


def _failure(group: FailureGroup, zone: str) -> str:
    return (
        f"<tr><td><b>{esc(group.function)}</b> {esc(group.type)}"
        f'<div class="rx-quiet">{esc(short(group.message, 140)) or NONE}</div></td>'
        f'<td class="rx-right">{number(group.count)}</td>'
        f'<td style="white-space:nowrap">{esc(instant(group.last_at, zone))}'
        f'<div><a class="rx-link" href="?section=jobs&amp;job={group.last_job}">'
        f"job {group.last_job}</a></div>"
        ""
        "</td></tr>"
    )
