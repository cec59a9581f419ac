"""The bar: whether time is real, how the engine is, the zone of the times, and who looks."""

from datetime import datetime

import panel as pn
import panel_material_ui as pmui
from param.parameterized import Event

from rxferrix_lab.domain.zone import zone_names
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.views.access import Visitor
from rxferrix_lab.views.card import html, put
from rxferrix_lab.views.heartbeat import banner_of
from rxferrix_lab.views.labels import duration, esc, full_instant
from rxferrix_lab.views.palette import FOLD, GAP, GOOD, QUIET
from rxferrix_lab.views.theme import THEME

BROWSER = "browser"
# Else text, label and outline are of the bar's white once the box was opened.
_INHERITED = {"color": "inherit !important"}
_OUTLINE = {"borderColor": "currentColor !important", "opacity": 0.5}
_ON_THE_BAR = {
    **_INHERITED,
    "& .MuiOutlinedInput-notchedOutline": _OUTLINE,
}
_LABEL = ".MuiInputLabel-root { color: inherit !important; }"


def pill(text: str, colour: str, title: str = "") -> str:
    """A rounded label, as HTML; escaped here."""
    return (
        f'<span title="{esc(title)}" style="display:inline-block;padding:2px 10px;'
        f"border-radius:11px;border:1px solid {colour};font-size:12px;white-space:nowrap;"
        f'color:color-mix(in srgb, {colour} 72%, currentColor)">{esc(text)}</span>'
    )


class TopBar:
    """The bar's pieces in a row."""

    def __init__(self, model: LiveModel, controls: Controls, who: Visitor) -> None:
        self._model = model
        self._controls = controls
        self._status = html(
            width=250, height=22, sizing_mode="fixed", margin=(0, 6), align="center"
        )
        self._who = html(
            _who(who), width=130, height=22, sizing_mode="fixed", margin=(0, 6), align="center"
        )
        self._zone = pmui.Select(
            label="Time zone",
            options={"Browser's zone": BROWSER} | {name: name for name in zone_names()},
            value=controls.zone,
            searchable=True,
            size="small",
            width=160,
            margin=(6, 6),
            sx=_ON_THE_BAR,
            theme_config=THEME,  # what is in the bar gets a theme of white on blue, its menu too
            stylesheets=[_LABEL],
        )
        self.row = pn.Row(
            pn.Spacer(sizing_mode="stretch_width"),
            self._status,
            self._zone,
            self._who,
            sizing_mode="stretch_width",
            align="center",
        )
        model.param.watch(self._show, ["now", "health", "is_virtual"])
        controls.param.watch(self._zone_changed, ["zone"])
        self._zone.param.watch(self._zone_chosen, "value")
        self._show()

    def _show(self, *_: object) -> None:
        model, health = self._model, self._model.health
        parts = [
            pill("VIRTUAL TIME", FOLD, "time is stepped by hand")
            if model.is_virtual
            else pill("LIVE", GOOD, "the machine's own time")
        ]
        parts.append(
            f'<span title="{esc(full_instant(model.now, self._controls.zone))}" class="rx-quiet">'
            f"{esc(_clock(model.now, self._controls.zone))}</span>"
        )
        if health.trouble:
            parts.append(pill("cannot be written", GAP, banner_of(health)))
        elif health.problem:
            parts.append(pill("store unavailable", GAP, health.problem))
        else:
            parts.append(pill("healthy", QUIET, f"lateness p99 {duration(health.lateness_p99)}"))
        put(self._status, f'<div style="text-align:right">{" ".join(parts)}</div>')

    def _zone_chosen(self, event: Event) -> None:
        if event.new == BROWSER:
            info = pn.state.browser_info
            self._controls.zone = (info.timezone if info is not None else None) or "UTC"
        elif event.new:
            self._controls.zone = event.new

    def _zone_changed(self, *_: object) -> None:
        if self._zone.value != BROWSER and self._zone.value != self._controls.zone:
            self._zone.value = self._controls.zone
        self._show()


def _clock(now: datetime, zone: str) -> str:
    return full_instant(now, zone)[11:]


def _who(who: Visitor) -> str:
    if who.identity is None:
        return ""
    role = "operator" if who.identity.admin else "viewer"
    title = "may cancel, run again, pause and resize" if who.identity.admin else "may look"
    return pill(f"{who.identity.subject} · {role}", QUIET, title)
