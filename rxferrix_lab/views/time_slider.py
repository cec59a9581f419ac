"""The slider that steps virtual time, and what ran on the way.

A label follows the slider while it is dragged; time is moved once it is let go. Time does not go
back: a place that was passed leaves it where it stands.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

import panel as pn
import panel_material_ui as pmui

from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.picture import CronPicture
from rxferrix_lab.reactive.run_notes import occurrence_of
from rxferrix_lab.views.card import card, empty, html, put
from rxferrix_lab.views.labels import esc, full_instant, instant
from rxferrix_lab.views.palette import state_chip

STEP = timedelta(minutes=15)
MOST_SHOWN = 20
Move = Callable[[datetime], datetime]


def slider(
    model: LiveModel, controls: Controls, move: Move, days: float = 7.0
) -> pn.viewable.Viewable:
    """A slider over the next days of an app on a virtual clock.

    Args:
        model: the app.
        controls: whose zone the times are shown in.
        move: moves the app's time to an instant; gives where it stands afterwards.
        days: how far it reaches.
    """
    return _Slider(model, controls, move, days).layout


class _Slider:
    """One slider. Its own pane is written on the thread of its events, the list on the model's."""

    def __init__(self, model: LiveModel, controls: Controls, move: Move, days: float) -> None:
        self._model, self._controls, self._move = model, controls, move
        self._start: datetime = model.now
        self._label = html()
        self._ran = html()
        self._player = pmui.Player(
            label="virtual time",
            start=0,
            end=max(1, int(timedelta(days=days) / STEP)),
            value=0,
            interval=250,
            variant="minimal",
            sizing_mode="stretch_width",
        )
        self.layout = pn.Column(
            self._label, self._player, card("What ran", self._ran), sizing_mode="stretch_width"
        )
        self._player.param.watch(self._dragged, "value")
        self._player.param.watch(self._let_go, "value_throttled")
        model.param.watch(self._list, ["jobs", "crons"])
        controls.param.watch(self._list, "zone")
        self._say("stands at", model.now)
        self._list()

    def _chosen(self) -> datetime:
        return self._start + int(self._player.value) * STEP

    def _dragged(self, *_: object) -> None:
        self._say("let go to move to", self._chosen())

    def _let_go(self, *_: object) -> None:
        until = self._chosen()
        self._say("moving to", until)
        self._say("stands at", self._move(until))

    def _say(self, what: str, moment: datetime) -> None:
        shown = esc(full_instant(moment, self._controls.zone))
        put(
            self._label,
            f'<p role="status" style="font-size:16px;margin:4px 0">'
            f'<span class="rx-quiet">Virtual time {esc(what)}</span> <b>{shown}</b></p>',
        )

    def _list(self, *_: object) -> None:
        ran = [job for job in self._model.jobs if job.started_at is not None][:MOST_SHOWN]
        rows = "".join(_row(job, self._model.crons, self._controls.zone) for job in ran)
        head = "".join(f"<th>{name}</th>" for name in ("ran at", "in UTC", "", "job", "note"))
        nothing = empty(
            "Nothing has run yet", "Drag the slider: time stops wherever something runs."
        )
        put(self._ran, f'<table class="rx-list"><tr>{head}</tr>{rows}</table>' if ran else nothing)


def _row(job: JobRecord, crons: tuple[CronPicture, ...], zone: str) -> str:
    cells = (
        esc(full_instant(job.started_at, zone)),
        esc(instant(job.started_at, "UTC")),
        state_chip(job.state),
        esc(f"{job.function}, job {job.id}" + (f", cron {job.cron}" if job.cron else "")),
        esc(_note(job, crons)),
    )
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _note(job: JobRecord, crons: tuple[CronPicture, ...]) -> str:
    if job.missed:
        return f"catches up for {job.missed}"
    occurrence = occurrence_of(job, crons)
    if occurrence is None or not occurrence.note:
        return ""
    return f"{occurrence.note}: it names {occurrence.wall:%H:%M}"
