"""The log: executions and what operators did, newest first, by pages.

Each skip says why. The first page follows the commits; an older page stands still.
"""

from __future__ import annotations

from dataclasses import replace

import panel as pn
import panel_material_ui as pmui

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.picture import LogRow, LogSearch
from rxferrix_lab.views import log_entry_text
from rxferrix_lab.views.card import card, empty, html, put
from rxferrix_lab.views.log_list import LogList
from rxferrix_lab.views.reloading import Reloading

PAGE = 50
ANY = "any"
OUTCOMES = (ANY, "succeeded", "failed", "canceled", "skipped")
CALLERS = (ANY, "scheduler", "user", "program", "operator")


def view(model: LiveModel, controls: Controls | None = None) -> pn.viewable.Viewable:
    """The page of the log."""
    return _Page(model, controls or Controls()).layout


class _Page:
    """Filters, pager and rows of one session."""

    def __init__(self, model: LiveModel, controls: Controls) -> None:
        self._model, self._controls = model, controls
        self._rows: tuple[LogRow, ...] = ()
        self._has_older = False
        self._open: set[str] = set()
        self._pages: list[int | None] = [None]  # the id before which each page begins, newest first
        self._fetching = Reloading(self._fetch)
        self._outcome = pmui.Select(
            label="Outcome", options=list(OUTCOMES), value=ANY, width=150, size="small"
        )
        self._caller = pmui.Select(
            label="Caller", options=list(CALLERS), value=ANY, width=150, size="small"
        )
        self._text = pmui.TextInput(
            label="Text", placeholder="in function, who, why, output or error", width=300,
            size="small", max_length=200,
        )  # fmt: skip
        self._list = LogList(  # type: ignore[no-untyped-call]  # the constructor is panel's
            sizing_mode="stretch_width"
        )
        self._list.on_call(self._called)
        self._hint, self._place = html(), html(width=190, sizing_mode=None, margin=(8, 6))
        self._newest = _button("Newest")
        self._newer, self._older = _button("Newer"), _button("Older")
        self.layout = card("Log", *self._body())
        self._watch()
        self._load()

    def _body(self) -> list[pn.viewable.Viewable]:
        pager = pn.Row(self._newest, self._newer, self._older, self._place, margin=0)
        filters = pn.FlexBox(
            self._outcome, self._caller, self._text, pager, gap="8px", align_items="center"
        )
        return [filters, self._list, self._hint]

    def _watch(self) -> None:
        for widget in (self._outcome, self._caller):
            widget.param.watch(self._filtered, "value")
        self._text.param.watch(self._filtered, "value_input")
        self._model.param.watch(self._committed, "log")
        self._controls.param.watch(self._draw, "zone")
        self._newest.on_click(lambda _: self._go([None]))
        self._newer.on_click(lambda _: self._go(self._pages[:-1] or [None]))
        self._older.on_click(lambda _: self._go([*self._pages, self._rows[-1].id]))

    # --- what is asked for ----------------------------------------------------------------------
    def _search(self) -> LogSearch:
        found = LogSearch(before=self._pages[-1])
        if self._outcome.value != ANY:
            found = replace(found, outcome=self._outcome.value)
        if self._caller.value != ANY:
            found = replace(found, caller=self._caller.value)
        text = (self._text.value_input or "").strip()
        return replace(found, text=text) if text else found

    def _filtered(self, *_: object) -> None:
        self._go([None])

    def _go(self, pages: list[int | None]) -> None:
        self._pages = pages
        self._open.clear()
        self._load()

    def _committed(self, *_: object) -> None:
        if self._pages == [None]:
            self._load()

    def _load(self) -> None:
        """Show the page that is asked for; what the model holds already needs no query."""
        if self._search() == LogSearch():
            self._take(self._model.log[: PAGE + 1])
        else:
            self._fetching.soon()

    async def _fetch(self) -> None:
        search = self._search()
        found = await self._model.find_log(search, PAGE + 1)
        if search == self._search():  # else what is asked for now is loaded next, or was
            self._take(found)

    def _take(self, found: tuple[LogRow, ...]) -> None:
        self._rows, self._has_older = found[:PAGE], len(found) > PAGE
        self._draw()

    # --- showing --------------------------------------------------------------------------------
    def _draw(self, *_: object) -> None:
        zone = self._controls.zone
        opened = {
            str(row.id): log_entry_text.hidden(row, zone)
            for row in self._rows
            if str(row.id) in self._open
        }
        self._list.set_rows([log_entry_text.line(row, zone) for row in self._rows], opened)
        put(self._hint, "" if self._rows else self._nothing())
        is_newest = len(self._pages) == 1
        self._newer.disabled = self._newest.disabled = is_newest
        self._older.disabled = not self._has_older
        place = "newest, live" if is_newest else f"page {len(self._pages)}, standing still"
        put(self._place, f'<span class="rx-quiet">{place}</span>')

    def _nothing(self) -> str:
        if self._search() == LogSearch():
            return empty(
                "Nothing was executed yet", "Call or schedule a function; it appears here."
            )
        return empty("No row matches", "Take a filter away, or wait for what you look for.")

    def _called(self, verb: str, what: str) -> None:
        if verb == "job":
            self._controls.param.update(section="jobs", job=int(what))
            return
        if verb == "open":
            self._open.add(what)
        else:
            self._open.discard(what)
        self._draw()


def _button(label: str) -> pmui.Button:
    return pmui.Button(label=label, variant="outlined", size="small", disabled=True)
