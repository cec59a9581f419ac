"""Pools: how full each is, what waits, and what an operator can do about it.

A table of all pools and one pool at a time in detail. Whether somebody may operate is decided in
the app.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import panel as pn
import panel_material_ui as pmui

from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.picture import PoolPicture
from rxferrix_lab.views import labels, palette
from rxferrix_lab.views.card import card, empty, html, put, tile, tiles
from rxferrix_lab.views.grid import Action, Column, Grid
from rxferrix_lab.views.mark_glyphs import milliseconds
from rxferrix_lab.views.operate import Question, perform
from rxferrix_lab.views.pool_figures import OccupancyFigure, SlotFigure

PLAIN = "(in no pool)"
_PLAIN_ID = "plain"
_COLUMNS = (
    Column("name", "Pool"),
    Column("slots", "In use / slots", align="right"),
    Column("queued", "Waiting", align="right"),
    Column("later", "Later", align="right"),
    Column("wait", "Oldest wait", align="right"),
    Column("stragglers", "Stragglers", align="right"),
    Column("note", "Note", look="quiet"),
)
_ACTIONS = (
    Action("pause", "Pause: give it 0 slots", "M5 3v10M11 3v10"),
    Action("resume", "Resume with the declared slots", "M4 3l9 5-9 5z"),
    Action("cancel", "Cancel all…", "M4 4l8 8M12 4l-8 8"),
)


def view(model: LiveModel, controls: Controls | None = None) -> pn.viewable.Viewable:
    """The page of pools."""
    return _Page(model, controls or Controls()).layout


class _Page:
    """The table and the chosen pool of one session."""

    def __init__(self, model: LiveModel, controls: Controls) -> None:
        self._model, self._controls = model, controls
        self._chosen = _busiest(model.pools)
        self._grid = Grid(_COLUMNS, actions=_ACTIONS, openable=True)
        self._grid.on_action(self._act)
        self._grid.on_open(self._choose)
        self._title = html()
        self._tiles = html()
        self._stragglers = html()
        self._slots = pmui.IntInput(
            label="Slots", value=0, start=0, end=100_000, width=120, size="small"
        )
        self._resize = pmui.Button(label="Resize", variant="outlined", size="small")
        self._resize.on_click(self._resized)
        self._size_box = pn.Row(self._slots, self._resize, margin=0)
        self._occupancy = pn.pane.Bokeh(sizing_mode="stretch_width", margin=0)
        self._lanes = pn.pane.Bokeh(sizing_mode="stretch_width", margin=0)
        self._question = Question()
        self._new_figures()
        self.layout = pn.Column(
            card("Pools", self._grid, html(_HINT)),
            card(
                "The chosen pool",
                pn.Row(self._title, self._size_box, sizing_mode="stretch_width", margin=0),
                self._tiles,
                self._stragglers,
                html(_legend()),
                self._occupancy,
                html('<div class="rx-h" style="margin-top:6px">Latest runs by slot</div>'),
                self._lanes,
            ),
            self._question.dialog,
            sizing_mode="stretch_width",
        )
        model.param.watch(self._show, ["pools", "now"])
        controls.param.watch(self._new_zone, "zone")
        self._show()

    # --- showing --------------------------------------------------------------------------------
    def _show(self, *_: object) -> None:
        may_operate = self._model.operator.may_operate
        now = self._model.now
        self._grid.show_rows(
            [
                table_row(pool, self._wait(pool), may_operate=may_operate)
                for pool in self._model.pools
            ]
        )
        pool = self._pool(self._chosen)
        if pool is None:
            put(self._title, empty("No pool", "Declare one with app.workpool(Workpool(…))."))
            return
        put(self._title, _headline(pool, self._wait(pool)))
        put(self._tiles, _tiles(pool, self._wait(pool)))
        put(self._stragglers, _stragglers(pool))
        self._size_box.visible = may_operate and not pool.is_plain
        self._figure.show(pool.history)
        self._slot_figure.show(pool, milliseconds(now))

    def _choose(self, row: str) -> None:
        self._chosen = row
        self._new_figures()
        self._show()

    def _new_zone(self, *_: object) -> None:
        self._new_figures()
        self._show()

    def _new_figures(self) -> None:
        zone = self._controls.zone
        self._figure, self._slot_figure = OccupancyFigure(zone), SlotFigure(zone)
        pool = self._pool(self._chosen)
        if pool is not None:
            self._slots.value = pool.limit
            self._figure.show(pool.history)
            self._slot_figure.show(pool, milliseconds(self._model.now))
        self._occupancy.object, self._lanes.object = self._figure.plot, self._slot_figure.plot

    def _pool(self, row: str) -> PoolPicture | None:
        return next((pool for pool in self._model.pools if _id_of(pool) == row), None)

    def _wait(self, pool: PoolPicture) -> str:
        if pool.oldest_due_at is None:
            return labels.NONE
        # In whole seconds, so that it is sent once a second and not with every frame.
        seconds = (self._model.now - pool.oldest_due_at) // timedelta(seconds=1)
        return labels.duration(timedelta(seconds=seconds)) if seconds > 0 else "under 1 s"

    # --- operating ------------------------------------------------------------------------------
    async def _act(self, action: str, row: str) -> None:
        pool = self._pool(row)
        if pool is None or pool.is_plain:
            return
        if action == "cancel":
            self._ask_to_cancel(pool)
            return
        slots = 0 if action == "pause" else pool.declared
        await self._give(pool.name, slots)

    async def _resized(self, event: object) -> None:
        del event
        pool = self._pool(self._chosen)
        if pool is not None and not pool.is_plain:
            await self._give(pool.name, self._slots.value or 0)

    async def _give(self, name: str, slots: int) -> None:
        said = f"{name} has {slots} slots" if slots else f"{name} is paused; what runs goes on"
        await perform(self._model.operator.resize_pool(name, slots), said)
        if _id_of_name(name) == self._chosen:
            self._slots.value = slots

    def _ask_to_cancel(self, pool: PoolPicture) -> None:
        name = pool.name

        async def cancel() -> None:
            await perform(
                self._model.operator.cancel_pool(name),
                lambda found: f"{name}: {found.queued} queued and {found.running} running canceled",
            )

        self._question.ask(cancel_question(pool), cancel, yes="Cancel them all")


def _busiest(pools: Sequence[PoolPicture]) -> str:
    """The pool to show first."""
    most = max(pools, key=lambda pool: (pool.queued, pool.in_use, not pool.is_plain), default=None)
    return _id_of(most) if most is not None else _PLAIN_ID


def table_row(pool: PoolPicture, wait: str, *, may_operate: bool) -> dict[str, Any]:
    """One pool as the table shows it."""
    actions = ["pause" if pool.limit else "resume", "cancel"]
    return {
        "_id": _id_of(pool),
        "_actions": actions if may_operate and not pool.is_plain else [],
        "name": PLAIN if pool.is_plain else pool.name,
        "slots": f"{labels.number(pool.in_use)} / {labels.number(pool.limit)}",
        "queued": labels.number(pool.queued),
        "later": labels.number(pool.later),
        "wait": wait,
        "stragglers": labels.number(len(pool.stragglers)),
        "note": _note(pool),
    }


def cancel_question(pool: PoolPicture) -> str:
    """What is asked before a pool is canceled, with the numbers first."""
    queued = pool.queued + pool.later
    return (
        f"{labels.number(queued)} queued and {labels.number(pool.in_use)} running jobs of "
        f"{pool.name} are canceled. Running ones are asked to stop and have their grace. "
        "Jobs enqueued later are untouched."
    )


def _note(pool: PoolPicture) -> str:
    notes = ["paused"] if not pool.limit else []
    if not pool.is_declared and not pool.is_plain:
        notes.append("no longer declared")
    if pool.limit and pool.limit != pool.declared and not pool.is_plain:
        notes.append(f"declared with {labels.number(pool.declared)} slots")
    return ", ".join(notes)


def _headline(pool: PoolPicture, wait: str) -> str:
    """What is up with the pool, in a sentence."""
    name = "Actions in no pool" if pool.is_plain else pool.name
    if not pool.limit:
        said = f"is paused; {labels.number(pool.queued)} wait"
    elif pool.queued:
        said = f"is full; {labels.number(pool.queued)} wait, the oldest for {wait}"
    elif pool.in_use >= pool.limit:
        said = "has every slot in use; nothing waits"
    elif pool.in_use:
        said = "has free slots; nothing waits"
    else:
        said = "is idle"
    verb = said.replace("is ", "are ", 1).replace("has ", "have ", 1) if pool.is_plain else said
    return (
        f'<p role="status" style="font-size:16px;font-weight:500;margin:6px 0">{labels.esc(name)} '
        f"{labels.esc(verb)}.</p>"
    )


def _tiles(pool: PoolPicture, wait: str) -> str:
    return tiles(
        [
            tile("Slots in use", str(pool.in_use), f"of {pool.limit}"),
            tile("Waiting now", labels.number(pool.queued), f"oldest {wait}"),
            tile("Later", labels.number(pool.later), "a due time or a retry"),
            tile("Stragglers", str(len(pool.stragglers)), "threads that hold a slot"),
        ]
    )


def _stragglers(pool: PoolPicture) -> str:
    if not pool.stragglers:
        return ""
    jobs = ", ".join(str(job) for job in pool.stragglers)
    return (
        f'<p style="margin:6px 0"><b>Stragglers: job {labels.esc(jobs)}.</b> They outlived their '
        "grace; each keeps its slot until its thread ends.</p>"
    )


def _legend() -> str:
    swatches = (
        (palette.ACCENT, "in use, above the line", "solid"),
        (palette.VIOLET, "waiting, below the line", "solid"),
        (palette.GAP, "slots (the limit)", "dashed"),
    )
    items = "".join(
        '<span style="display:inline-flex;align-items:center;gap:6px">'
        f'<span style="width:18px;border-top:3px {line} {colour}"></span>{text}</span>'
        for colour, text, line in swatches
    )
    return (
        f'<div class="rx-quiet" role="note" style="display:flex;flex-wrap:wrap;gap:2px 16px;'
        f'font-size:12px;margin-top:8px">{items}</div>'
    )


def _id_of(pool: PoolPicture) -> str:
    return _PLAIN_ID if pool.is_plain else _id_of_name(pool.name)


def _id_of_name(name: str) -> str:
    return f"pool {name}"


_HINT = (
    '<p class="rx-quiet" style="margin:6px 0 0;font-size:12px">Click a pool for its details.</p>'
)
