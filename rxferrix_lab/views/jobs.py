"""The jobs page: find them among a million, look at one, and do something with one or with many."""

from datetime import timedelta
from functools import partial

import panel as pn
import panel_material_ui as pmui
from param.parameterized import Event

from rxferrix_lab.domain.job import JobId
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.job_filter import (
    JobPage,
    JobSearch,
    Place,
    order_of,
    place_of,
    search_of,
)
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.views import job
from rxferrix_lab.views.grid import Grid, run_callback
from rxferrix_lab.views.job_export import export_buttons
from rxferrix_lab.views.job_filters import JobFilters
from rxferrix_lab.views.job_rows import CANCEL, COLUMNS, RERUN, rows_of
from rxferrix_lab.views.labels import number
from rxferrix_lab.views.operate import ASK_ABOVE, Question, perform
from rxferrix_lab.views.pager import Pager
from rxferrix_lab.views.reloading import Reloading

PAGE_SIZE = 50
LOADING = "Loading…"
NOTHING = (
    "No job matches. Clear the filters, or schedule one: "
    "ctx.scheduler.run_after(timedelta(0), my_mutation)"
)
REDRAW = timedelta(seconds=1)
FILTERS = (
    *("zone", "states", "text", "function", "pool", "cron", "since", "until", "order", "at"),
)


def view(model: LiveModel, controls: Controls | None = None) -> pn.viewable.Viewable:
    """The list of jobs, or the job that was opened."""
    chosen = controls or Controls()
    listed = JobList(model, chosen)
    place = pn.Column(sizing_mode="stretch_width", margin=0)

    def show(*_: object) -> None:
        place[:] = [job.view(model, chosen) if chosen.job else listed.layout]

    chosen.param.watch(show, ["job"])
    show()
    return place


class JobList:
    """One session's list: a page of what the controls ask for, kept up to date."""

    def __init__(self, model: LiveModel, controls: Controls) -> None:
        self._model = model
        self._controls = controls
        self._page = JobPage((), 0, 0)
        self._place: Place | None = None  # null: where the controls say
        self._asks = 0  # how often another page was asked for; a load that was overtaken is dropped
        self._loading = Reloading(self._load)
        self._drawn_at = model.now - REDRAW
        self._question = Question()
        self._filters = JobFilters(model, controls)
        self._pager = Pager(self._go)
        self._grid = Grid(
            COLUMNS,
            actions=(CANCEL, RERUN),
            selectable=model.operator.may_operate,
            openable=True,
            height=600,
            empty_text=LOADING,
        )
        self._bulk = {
            name: pmui.Button(label=label, size="small", variant="outlined", margin=(4, 3))
            for name, label in (
                ("cancel", "Cancel selected"),
                ("rerun", "Run selected again"),
                ("cancel_all", "Cancel all"),
                ("rerun_all", "Run all again"),
            )
        }
        self.layout = self._laid_out()
        self._wire()

    def _laid_out(self) -> pn.viewable.Viewable:
        bulk = tuple(self._bulk.values()) if self._model.operator.may_operate else ()
        return pn.Column(
            self._filters.states,
            self._filters.row,
            pn.FlexBox(
                pn.FlexBox(*bulk, styles={"width": "auto"}),
                pn.FlexBox(
                    export_buttons(self._model, lambda: search_of(self._controls)),
                    self._pager.row,
                    align_items="center",
                    styles={"width": "auto"},
                ),
                sizing_mode="stretch_width",
                align_items="center",
                justify_content="space-between",
            ),
            self._grid,
            self._question.dialog,
            sizing_mode="stretch_width",
            margin=(4, 8),
        )

    def _wire(self) -> None:
        self._grid.on_action(self._act)
        self._grid.on_open(self._open)
        self._grid.on_sort(self._sort)
        self._grid.param.watch(self._label_buttons, ["selected"])
        for name, button in self._bulk.items():
            button.on_click(partial(self._bulk_clicked, name))
        self._model.param.watch(self._changed, ["jobs", "log"])
        self._model.param.watch(self._time_went_on, ["now"])
        self._controls.param.watch(self._asked, list(FILTERS))
        self._label_buttons()
        run_callback(self._first)

    # --- loading --------------------------------------------------------------------------------
    async def _first(self) -> None:
        await self._loading.whole()
        await self._filters.load_names()

    def _changed(self, *_: object) -> None:
        if not self._controls.job:
            self._loading.soon()

    def _asked(self, *events: Event) -> None:
        is_ours = self._place is not None and self._controls.at == str(self._place.job or "")
        if {event.name for event in events} == {"at"} and is_ours:
            return
        self._place, self._asks = None, self._asks + 1
        self._loading.soon()

    def _go(self, place: Place) -> None:
        self._place, self._asks = place, self._asks + 1
        self._loading.soon()

    async def _load(self) -> None:
        """Load the page that is wanted."""
        place, asks = self._place or place_of(self._controls), self._asks
        found = await perform(
            self._model.find_jobs(self._search(), order_of(self._controls), place, PAGE_SIZE)
        )
        if found is None or asks != self._asks:
            return
        self._page = found
        self._place = Place("at", found.jobs[0].id) if found.jobs and found.position else Place()
        at = str(self._place.job or "")
        if at != self._controls.at:
            self._controls.at = at
        self._draw()

    def _search(self) -> JobSearch:
        return search_of(self._controls)

    # --- showing --------------------------------------------------------------------------------
    def _time_went_on(self, *_: object) -> None:
        if self._grid.empty_text == LOADING:
            return
        if self._model.now - self._drawn_at >= REDRAW and not self._controls.job:
            self._draw()

    def _draw(self) -> None:
        self._drawn_at = self._model.now
        rows = rows_of(
            self._page.jobs,
            self._controls.zone,
            self._model.now,
            with_buttons=self._model.operator.may_operate,
        )
        self._grid.show_rows(rows)
        if self._grid.empty_text != NOTHING:
            self._grid.empty_text = NOTHING
        if self._grid.order != self._controls.order:
            self._grid.order = self._controls.order
        self._pager.show(self._page)
        self._label_buttons()

    def _label_buttons(self, *_: object) -> None:
        counts = self._counts()
        for name, label in (
            ("cancel", f"Cancel selected ({counts['cancel']})"),
            ("rerun", f"Run selected again ({counts['rerun']})"),
            ("cancel_all", f"Cancel all {number(counts['cancel_all'])}"),
            ("rerun_all", f"Run all {number(counts['rerun_all'])} again"),
        ):
            count = counts[name]
            button = self._bulk[name]
            if (button.label, button.disabled) != (label, not count):
                button.param.update(label=label, disabled=not count)

    def _counts(self) -> dict[str, int]:
        """How many jobs each button would change now."""
        chosen = set(self._grid.selected)
        rows = [row for row in self._grid.rows if row["_id"] in chosen]
        return {
            "cancel": sum(CANCEL.name in row["_actions"] for row in rows),
            "rerun": sum(RERUN.name in row["_actions"] for row in rows),
            "cancel_all": self._page.cancelable,
            "rerun_all": self._page.rerunnable,
        }

    # --- doing ----------------------------------------------------------------------------------
    def _open(self, row: str) -> None:
        self._controls.job = int(row)

    def _sort(self, column: str) -> None:
        is_same = self._controls.order.removeprefix("-") == column
        is_descending = self._controls.order.startswith("-") if is_same else False
        order = column if is_same and is_descending else f"-{column}"
        self._controls.param.update(order=order, at="")

    async def _act(self, action: str, row: str) -> None:
        which = JobId(int(row))
        if action == CANCEL.name:
            await perform(self._model.operator.cancel(which), lambda done: _canceled(which, done))
        elif action == RERUN.name:
            await perform(
                self._model.operator.rerun(which), lambda new: f"Job {new} runs job {which} again."
            )

    def _bulk_clicked(self, name: str, event: object) -> None:
        del event
        count = self._counts()[name]
        verb = "Cancel" if name.startswith("cancel") else "Run again"
        search, jobs = self._search(), [JobId(int(row)) for row in self._grid.selected]

        async def do() -> None:
            await self._do_many(name, search, jobs)

        if count > ASK_ABOVE:
            self._question.ask(
                f"{verb} {number(count)} jobs? Those that match now, whatever page they are on.",
                do,
                yes=f"{verb} {number(count)} jobs",
            )
        else:
            run_callback(do)

    async def _do_many(self, name: str, search: JobSearch, jobs: list[JobId]) -> None:
        operator = self._model.operator
        match name:
            case "cancel":
                await perform(operator.cancel_jobs(jobs), _many_canceled)
            case "cancel_all":
                await perform(operator.cancel_matching(search), _many_canceled)
            case "rerun":
                await perform(operator.rerun_jobs(jobs), _many_rerun)
            case _:
                await perform(operator.rerun_matching(search), _many_rerun)
        self._grid.selected = []


def _canceled(which: JobId, has_stopped: bool) -> str:  # noqa: FBT001  # the app's own answer
    return f"Job {which} is canceled or stopping." if has_stopped else f"Job {which} had ended."


def _many_canceled(count: int) -> str:
    return f"{number(count)} jobs are canceled or stopping; the others had ended."


def _many_rerun(count: int) -> str:
    return f"{number(count)} jobs run again; the others had not failed or been canceled."
