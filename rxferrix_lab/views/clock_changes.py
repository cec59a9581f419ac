"""Clock changes: what one change of a zone's clock does to tonight's crons.

Two pictures of any zone and change, and a sentence above them that says what happens. Everything
shown is computed by `reactive.clock_pictures`; nothing here works on schedules.
"""

from __future__ import annotations

import panel as pn
import panel_material_ui as pmui

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.zone import ClockChange, zone_names
from rxferrix_lab.reactive.clock_pictures import (
    ChangePicture,
    change_picture,
    change_told,
    changes_from,
    changes_of_years,
    wall_picture,
    zone_to_show,
)
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.run_marks import MarkKind, schedules_of
from rxferrix_lab.views.card import card, empty, html, put
from rxferrix_lab.views.labels import esc
from rxferrix_lab.views.lane_figure import lane_figure
from rxferrix_lab.views.mark_glyphs import legend
from rxferrix_lab.views.timeline import not_drawn
from rxferrix_lab.views.wall_figure import wall_figure

RULER = "every 20 minutes (a ruler, no cron)"
_GAP_KINDS: tuple[MarkKind, ...] = ("run", "skipped time", "moved", "merged")
_FOLD_KINDS: tuple[MarkKind, ...] = ("run", "first only", "second passing")
_YEARS = (1970, 2200)


def view(model: LiveModel, controls: Controls | None = None) -> pn.viewable.Viewable:
    """The page of clock changes."""
    return _Page(model, controls or Controls()).layout


class _Page:
    """The pickers of one session and what they show. Its widgets are written here only."""

    def __init__(self, model: LiveModel, controls: Controls) -> None:
        self._model = model
        self._schedules = schedules_of(cron.record for cron in model.crons)
        self._changes: dict[str, ClockChange] = {}
        zone = zone_to_show(self._schedules, model.now, controls.zone)
        self._zone = pmui.AutocompleteInput(
            label="Zone",
            options=zone_names(),
            value=zone,
            min_characters=1,
            width=260,
            size="small",
        )
        self._year = pmui.IntInput(
            label="Changes from year", value=model.now.year, start=_YEARS[0], end=_YEARS[1],
            format="0", width=150, size="small",
        )  # fmt: skip
        self._change = pmui.Select(label="Change", options=[], width=470, size="small")
        self._runs = pmui.Select(label="Runs of", options=[RULER], width=320, size="small")
        self._sentence = html(margin=(10, 10, 0, 10))
        self._pictures = pn.Column(sizing_mode="stretch_width", margin=0)
        self._wall = pn.pane.Bokeh(sizing_mode="stretch_width", margin=0)
        self._picture: ChangePicture | None = None
        self.layout = pn.Column(
            pn.FlexBox(
                self._zone,
                self._year,
                self._change,
                align_items="center",
                gap="8px",
                margin=(12, 0, 0, 0),
            ),
            self._sentence,
            self._pictures,
            sizing_mode="stretch_width",
        )
        self._watch()
        self._list_changes()

    def _watch(self) -> None:
        self._zone.param.watch(self._list_changes, "value")
        self._year.param.watch(self._list_changes, "value")
        self._change.param.watch(self._draw, "value")
        self._runs.param.watch(self._draw_wall, "value")
        self._model.param.watch(self._take_crons, "crons")

    def _take_crons(self, *_: object) -> None:
        """Draw again only where a schedule came, went or changed; runs alone change nothing."""
        schedules = schedules_of(cron.record for cron in self._model.crons)
        if schedules != self._schedules:
            self._schedules = schedules
            self._draw()

    def _list_changes(self, *_: object) -> None:
        zone, now = self._zone.value, self._model.now
        if self._year.value == now.year:
            changes = changes_from(zone, now)
        else:
            changes = changes_of_years(zone, self._year.value or now.year)
        self._changes = {_choice(zone, change): change for change in changes}
        chosen = next(iter(self._changes), None)
        is_same = self._change.value == chosen
        self._change.param.update(options=list(self._changes), value=chosen)
        if is_same:
            self._draw()

    def _draw(self, *_: object) -> None:
        change = self._changes.get(self._change.value or "")
        if change is None:
            self._show_no_change()
            return
        picture = self._picture = change_picture(self._zone.value, change, self._schedules)
        put(self._sentence, _sentence(picture.sentence))
        self._offer_runs(picture)
        kinds = _GAP_KINDS if change.is_gap else _FOLD_KINDS
        self._pictures.objects = [
            html(legend(kinds), margin=(4, 10)),
            card("Wall clock against UTC", self._wall, aside=self._runs),
            card(
                f"Crons around the change, {picture.zone}",
                pn.pane.Bokeh(lane_figure(picture.lanes), sizing_mode="stretch_width", margin=0),
                html(not_drawn(picture.lanes)),
            ),
            card("What happens to each cron", html(_told(picture))),
        ]

    def _show_no_change(self) -> None:
        self._picture = None
        text = (
            f"The clocks in {self._zone.value} are not changed in these years; "
            "each time of day comes once, and every cron runs as it is written."
        )
        put(self._sentence, _sentence(text))
        hint = "Choose another zone, or an earlier year."
        self._pictures.objects = [html(empty(f"No clock change in {self._zone.value}", hint))]

    def _offer_runs(self, picture: ChangePicture) -> None:
        """The crons to draw against the wall clock; keeps one that was chosen and is touched."""
        names = [lane.named.name for lane in picture.lanes.lanes]
        options = [*names, RULER]
        chosen = self._runs.value
        if chosen not in {told.cron for told in picture.told}:
            chosen = _most_telling(picture)
        is_same = chosen == self._runs.value
        self._runs.param.update(options=options, value=chosen)
        if is_same:
            self._draw_wall()

    def _draw_wall(self, *_: object) -> None:
        picture = self._picture
        if picture is None:
            return
        by_name = {named.name: named.schedule for named in self._schedules}
        ruler = CronSchedule("0 */20 * * * *", picture.zone)
        schedule = by_name.get(self._runs.value, ruler)
        self._wall.object = wall_figure(wall_picture(picture.zone, picture.change, schedule))


def _most_telling(picture: ChangePicture) -> str:
    """The touched cron with the most to see, of those that are drawn whole."""
    touched = {told.cron for told in picture.told}
    lanes = [lane for lane in picture.lanes.lanes if lane.named.name in touched]
    whole = sorted(lanes, key=lambda lane: (not lane.is_sampled, len(lane.marks)))
    return whole[-1].named.name if whole else RULER


def _choice(zone: str, change: ClockChange) -> str:
    told = change_told(zone, change)
    return told.removeprefix("On ").replace(f" the clocks in {zone} go", ":")


def _sentence(text: str) -> str:
    return (
        '<p role="status" style="font-size:19px;line-height:1.45;margin:0;font-weight:500">'
        f"{esc(text)}</p>"
    )


def _told(picture: ChangePicture) -> str:
    if not picture.told:
        return empty("No cron is touched", "Every cron runs as it is written.")
    rows = "".join(
        f'<tr><th scope="row" style="text-align:left;vertical-align:top;padding:4px 18px 4px 0">'
        f'{esc(told.cron)}</th><td style="padding:4px 0">'
        f"{'<br>'.join(esc(line) for line in told.lines)}</td></tr>"
        for told in picture.told
    )
    return f'<table style="border-collapse:collapse;font-size:14px">{rows}</table>'
