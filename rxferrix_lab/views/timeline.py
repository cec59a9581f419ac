"""The next runs of crons, or of one expression, over some days, with the clock changes marked.

Small, and used on pages and in notebooks alike. The lanes are computed by `reactive.run_marks`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import panel as pn

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.run_marks import (
    Lanes,
    MarkKind,
    NamedSchedule,
    lanes_between,
    schedule_named,
    schedules_of,
)
from rxferrix_lab.views.card import empty, html, put
from rxferrix_lab.views.labels import esc
from rxferrix_lab.views.lane_figure import lane_figure
from rxferrix_lab.views.mark_glyphs import legend

if TYPE_CHECKING:
    from rxferrix_lab.reactive.model import LiveModel

DAYS = 7.0
_FRAMES = 60  # a live timeline is drawn again when this part of its span has passed
_ORDER: tuple[MarkKind, ...] = ("run", "moved", "merged", "first only", "second passing")


def timeline(
    schedules: Sequence[NamedSchedule], zone: str, now: datetime, days: float = DAYS
) -> pn.viewable.Viewable:
    """The runs of schedules in the days after `now`, with the wall clock of a zone above."""
    if not schedules:
        hint = "Declare one with app.cron, app.cron_tz or app.interval."
        return html(empty("No crons are declared", hint))
    lanes = lanes_between(schedules, zone, now, now + timedelta(days=days))
    return pn.Column(_pane(lanes), html(_notes(lanes)), sizing_mode="stretch_width", margin=0)


def timeline_of_expression(
    expr: str, zone: str, now: datetime, days: float = DAYS
) -> pn.viewable.Viewable:
    """The runs of an expression in the days after `now`.

    Raises:
        CronSyntaxError: if the expression cannot be read, or never matches.
        UnknownZoneError: if there is no such zone.
    """
    return timeline([schedule_named(expr, expr, zone)], zone, now, days)


def view(
    model: LiveModel, controls: Controls | None = None, *, days: float = DAYS
) -> pn.viewable.Viewable:
    """The runs of every cron of an app in the next days; follows the model."""
    return _Live(model, controls or Controls(), days).layout


class _Live:
    """A timeline of one session that moves with the model's time."""

    def __init__(self, model: LiveModel, controls: Controls, days: float) -> None:
        self._model, self._controls = model, controls
        self._span = timedelta(days=days)
        self._schedules: tuple[NamedSchedule, ...] = ()
        self._drawn: tuple[object, ...] = ()
        self._figure = pn.pane.Bokeh(sizing_mode="stretch_width", margin=0)
        self._notes = html()
        self.layout = pn.Column(self._figure, self._notes, sizing_mode="stretch_width", margin=0)
        model.param.watch(self._take_crons, "crons")
        model.param.watch(self._draw, "now")
        controls.param.watch(self._draw, "zone")
        self._take_crons()

    def _take_crons(self, *_: object) -> None:
        crons = self._model.crons
        self._schedules = schedules_of(
            cron.record for cron in crons if not cron.record.paused and not cron.is_dormant
        )
        self._draw()

    def _draw(self, *_: object) -> None:
        """Draw again where a schedule or the zone changed, or enough time passed to be seen."""
        now, zone, schedules = self._model.now, self._controls.zone, self._schedules
        frame = now.timestamp() // (self._span.total_seconds() / _FRAMES)
        drawn = (schedules, zone, frame)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        self._figure.visible = bool(schedules)
        if not schedules:
            hint = "Declare one with app.cron, app.cron_tz or app.interval."
            put(self._notes, empty("No cron is awake", hint))
            return
        lanes = lanes_between(schedules, zone, now, now + self._span)
        self._figure.object = lane_figure(lanes)
        put(self._notes, _notes(lanes))


def _pane(lanes: Lanes) -> pn.pane.Bokeh:
    return pn.pane.Bokeh(lane_figure(lanes), sizing_mode="stretch_width", margin=0)


def _notes(lanes: Lanes) -> str:
    """A legend where a clock change is in sight, and what is not drawn."""
    kinds = {mark.kind for lane in lanes.lanes for mark in lane.marks}
    shown = legend([kind for kind in _ORDER if kind in kinds]) if kinds - {"run"} else ""
    return shown + not_drawn(lanes)


def not_drawn(lanes: Lanes) -> str:
    """What a picture of lanes leaves out, as HTML; empty where it shows all."""
    names = [lane.named.name for lane in lanes.lanes if lane.is_sampled]
    notes = [f"Too many runs to draw each one, a sample is shown: {', '.join(names)}."]
    notes = notes if names else []
    if lanes.left_out:
        notes.append(f"{lanes.left_out} more crons have no lane here.")
    text = esc(" ".join(notes))
    return f'<p class="rx-quiet" style="margin:4px 0">{text}</p>' if text else ""
