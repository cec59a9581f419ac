"""The preview box: an expression and a zone, its next runs, and what clock changes do to it.

Nothing that is typed here is declared anywhere. A wrong expression shows its error at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

import panel_material_ui as pmui
from panel import FlexBox

from rxferrix_lab.domain.occurrence import Note, Occurrence
from rxferrix_lab.domain.zone import zone_names
from rxferrix_lab.reactive.cron_outlook import Outlook, Refusal, outlook
from rxferrix_lab.views.card import card, html, put
from rxferrix_lab.views.labels import NONE, esc, full_instant

if TYPE_CHECKING:
    from panel.viewable import Viewable

    from rxferrix_lab.reactive.controls import Controls
    from rxferrix_lab.reactive.model import LiveModel

_NOTES: dict[Note, str] = {
    "": "",
    "moved by a gap": "◆ moved: the wall time does not exist that day",
    "first of a repeated hour": "▲ the first passing only: the wall time comes twice",
    "merged": "■ one with a run that a clock change moved here",
}
_FIELDS = ("second", "minute", "hour", "day", "month", "weekday")


class CronPreview:
    """The box of one session."""

    def __init__(self, model: LiveModel, controls: Controls) -> None:
        self._model = model
        self._controls = controls
        self._expr = pmui.TextInput(
            label="Expression: second minute hour day month weekday", value="0 30 3 * * *",
            max_length=200, width=330, size="small",
        )  # fmt: skip
        self._zone = pmui.AutocompleteInput(
            label="Zone", options=zone_names(), value=controls.zone, min_characters=1,
            width=240, size="small",
        )  # fmt: skip
        self._text = ""  # what stands in the box, entered or not
        self._answer = html()
        self.layout: Viewable = card(
            "Try an expression before you commit it",
            FlexBox(self._expr, self._zone, gap="8px", align_items="center"),
            self._answer,
        )
        self._expr.param.watch(self._typed, "value_input")
        self._expr.param.watch(self._entered, "value")
        self._zone.param.watch(self._show, "value")
        controls.param.watch(self._show, "zone")
        self._entered()

    def take(self, expr: str, zone: str) -> None:
        """Show an expression that stands elsewhere on the page."""
        self._expr.param.update(value=expr, value_input=expr)
        self._zone.value = zone

    def _typed(self, *_: object) -> None:
        self._text = self._expr.value_input or ""
        self._show()

    def _entered(self, *_: object) -> None:
        self._text = self._expr.value or ""
        self._show()

    def _show(self, *_: object) -> None:
        answer = outlook(self._text, self._zone.value or "", self._model.now)
        match answer:
            case Refusal():
                put(self._answer, refusal_html(answer, self._text))
            case Outlook():
                put(self._answer, outlook_html(answer, self._controls.zone))
            case _:
                assert_never(answer)


def refusal_html(refusal: Refusal, expr: str) -> str:
    """The error in its own words, with the wrong field marked in the expression."""
    fields = expr.split()
    shown = ""
    if refusal.field is not None and refusal.field <= len(fields):
        wrong = refusal.field - 1
        marked = [
            f'<mark style="background:#e5484d;color:#fff;border-radius:3px;padding:0 3px">'
            f"{esc(text)}</mark>"
            if place == wrong
            else esc(text)
            for place, text in enumerate(fields)
        ]
        name = _FIELDS[wrong] if wrong < len(_FIELDS) else "field"
        shown = (
            f'<div class="rx-mono" style="font-size:15px;margin-bottom:4px">{" ".join(marked)} '
            f'<span class="rx-quiet">({name})</span></div>'
        )
    return (
        f'<div class="rx-refusal" role="alert" style="padding:8px 0">{shown}'
        f"<span aria-hidden='true'>✕ </span>{esc(refusal.problem)}</div>"
    )


def outlook_html(found: Outlook, zone: str) -> str:
    """The next runs and the next clock changes."""
    own = found.schedule.zone
    is_other = own != zone
    head = f"<th>In {esc(own)}</th>" + (f"<th>In {esc(zone)}</th>" if is_other else "")
    rows = "".join(_row(run, own, zone if is_other else None) for run in found.runs)
    told = "".join(f"<li>{esc(line)}</li>" for line in found.explained)
    return (
        f'<p style="font-size:15px;font-weight:500;margin:6px 0">{esc(found.words)}</p>'
        '<div style="display:flex;flex-wrap:wrap;gap:8px 40px">'
        '<div style="flex:2 1 380px;min-width:0"><table class="rx-list rx-next">'
        f"<tr>{head}<th>Clock change</th></tr>{rows}</table></div>"
        '<div style="flex:1 1 260px;min-width:0"><div class="rx-h" style="margin-top:4px">'
        f'What the next clock changes do to it</div><ul class="rx-told" '
        f'style="margin:0;padding-left:18px">{told}</ul></div></div>'
    )


def _row(run: Occurrence, own: str, other: str | None) -> str:
    mine = f"<td>{esc(full_instant(run.instant, other))}</td>" if other else ""
    note = esc(_NOTES[run.note]) or f'<span class="rx-quiet">{NONE}</span>'
    return f"<tr><td>{esc(full_instant(run.instant, own))}</td>{mine}<td>{note}</td></tr>"
