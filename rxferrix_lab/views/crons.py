"""Crons: what each did, when each runs next, and what an expression would do.

Formats the model's crons and hands an operator's clicks to the app, which decides whether he may.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import panel as pn

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.picture import CronPicture
from rxferrix_lab.views import cron_strip, labels, timeline
from rxferrix_lab.views.card import card, empty, html, put
from rxferrix_lab.views.cron_list import CronList
from rxferrix_lab.views.cron_preview import CronPreview
from rxferrix_lab.views.operate import Question, notify, perform

_PAUSE = "M5 3v10M11 3v10"
_MOON = "M12.5 10A5.5 5.5 0 1 1 7 2.5a4.5 4.5 0 0 0 5.5 7.5z"
NO_CRONS = empty(
    "No crons are declared",
    'Declare one with app.cron("name", "0 0 9 * * *", function), app.cron_tz or app.interval; '
    "try the expression below first.",
)


def view(model: LiveModel, controls: Controls | None = None) -> pn.viewable.Viewable:
    """The page of crons."""
    return _Page(model, controls or Controls()).layout


class _Page:
    """The list, the preview box and the next day of one session."""

    def __init__(self, model: LiveModel, controls: Controls) -> None:
        self._model, self._controls = model, controls
        self._list = CronList(  # type: ignore[no-untyped-call]  # the constructor is panel's
            sizing_mode="stretch_width"
        )
        self._hint = html()
        self._question = Question()
        self._preview = CronPreview(model, controls)
        self._list.on_action(self._act)
        self.layout = pn.Column(
            card("Crons", self._list, self._hint),
            self._preview.layout,
            card("The next 24 hours", timeline.view(model, controls, days=1)),
            self._question.dialog,
            sizing_mode="stretch_width",
        )
        model.param.watch(self._show, "crons")
        controls.param.watch(self._show, "zone")
        self._show()

    def _show(self, *_: object) -> None:
        crons, zone = self._model.crons, self._controls.zone
        may_operate = self._model.operator.may_operate
        self._list.set_rows([row(cron, zone, may_operate=may_operate) for cron in crons])
        put(self._hint, cron_strip.legend() if crons else NO_CRONS)

    async def _act(self, action: str, name: str) -> None:
        operator = self._model.operator
        verbs: dict[str, tuple[Callable[[str], Awaitable[Any]], str | Callable[[Any], str]]] = {
            "run": (operator.run_cron_now, lambda job: f"{name} runs now, as job {job}"),
            "pause": (operator.pause_cron, f"{name} is paused; it misses nothing until resumed"),
            "resume": (operator.resume_cron, f"{name} goes on from now"),
        }
        if action == "try":
            self._try(name)
        elif action == "remove":
            self._ask_to_remove(name)
        elif action in verbs:
            verb, said = verbs[action]
            await perform(verb(name), said)

    def _try(self, name: str) -> None:
        for cron in self._model.crons:
            if cron.record.name == name and cron.record.expr is not None:
                self._preview.take(cron.record.expr, cron.record.zone or "UTC")
                notify(f"The expression of {name} stands in the box below the crons")

    def _ask_to_remove(self, name: str) -> None:
        async def remove() -> None:
            await perform(self._model.operator.remove_cron(name), f"{name} is removed")

        self._question.ask(
            f"Remove the cron {name} with its pending job? Its history stays. It comes back when "
            "the program declares it again.",
            remove,
            yes="Remove it",
        )


def row(cron: CronPicture, zone: str, *, may_operate: bool) -> dict[str, Any]:
    """One cron as the list shows it; nothing in it moves while nothing happens."""
    record = cron.record
    return {
        "name": record.name,
        "words": cron.words,
        "literal": _literal(cron),
        "marks": _marks(cron),
        "cells": [list(cell) for cell in cron_strip.cells(cron.strip, zone)],
        "heard": cron_strip.in_words(cron.strip),
        "next": _next(cron, zone),
        "counts": [
            ["runs", labels.number(record.runs)],
            ["skipped", labels.number(record.skipped)],
            ["missed", labels.number(record.missed)],
        ],
        "actions": _actions(cron, may_operate=may_operate),
    }


def _literal(cron: CronPicture) -> str:
    record = cron.record
    if record.every_us is not None:
        return f"interval → {record.function}"  # the words say its period already
    where = f" · {record.zone}" if record.zone else ""
    return f"{cron.schedule_text}{where} → {record.function}"


def _marks(cron: CronPicture) -> list[dict[str, str]]:
    marks: list[dict[str, str]] = []
    if cron.record.paused:
        why = "It makes no jobs and misses nothing."
        marks.append({"text": "paused", "icon": _PAUSE, "why": why})
    if cron.is_dormant:
        why = "No cell has declared it yet; it does not fire until one does."
        marks.append({"text": "dormant", "icon": _MOON, "why": why})
    return marks


def _next(cron: CronPicture, zone: str) -> list[list[str]]:
    record = cron.record
    if record.paused or cron.is_dormant:
        return [["no next run", "rx-quiet"]]
    if record.next_run_at is None:
        return [["nothing is left to run", "rx-quiet"]]
    own = record.zone or "UTC"
    lines = [[labels.instant(record.next_run_at, own), ""], [own, "rx-quiet"]]
    if zone != own:
        lines += [[labels.instant(record.next_run_at, zone), ""], [zone, "rx-quiet"]]
    return lines


def _actions(cron: CronPicture, *, may_operate: bool) -> list[list[str]]:
    found: list[list[str]] = []
    if cron.record.expr is not None:
        found.append(["try", "Try", "Put its expression into the preview box"])
    if not may_operate:
        return found
    found.insert(0, ["run", "Run now", "Make a job of it at once; the next run stays"])
    if cron.record.paused:
        found.append(["resume", "Resume", "Go on from now"])
    else:
        found.append(["pause", "Pause", "Make no jobs until it is resumed"])
    return [*found, ["remove", "Remove…", "Take it out with its pending job"]]
