"""Two figures of a pool: slots in use with the queue mirrored below, and its runs by slot.

Each is made once and then fed: only what is new is sent.
"""

from collections.abc import Sequence
from math import nan
from typing import Any

from bokeh.layouts import column
from bokeh.models import (
    BasicTicker,
    ColumnDataSource,
    CustomJSTickFormatter,
    DataRange1d,
    HoverTool,
    Range1d,
)
from bokeh.models.annotations import Span
from bokeh.plotting import figure

from rxferrix_lab.reactive.picture import PoolPicture, PoolSample
from rxferrix_lab.reactive.slot_lanes import slot_lanes
from rxferrix_lab.views import labels, palette
from rxferrix_lab.views.lane_figure import plain
from rxferrix_lab.views.mark_glyphs import milliseconds
from rxferrix_lab.views.zone_ticks import wall_ticks

Columns = dict[str, Any]  # a list for each; Bokeh takes no narrower type
_KEPT = 900  # samples
_MOST_LANES = 64
_ROW = 18  # pixels
_HALF = 110
_TICKS = 55  # the height of the time axis


class OccupancyFigure:
    """Slots in use above, what waits mirrored below: each on its own scale, one time axis."""

    def __init__(self, zone: str) -> None:
        self._source = ColumnDataSource(_columns(()))
        self._last: PoolSample | None = None
        above, below = _half("in use", _HALF), _half("waiting", _HALF + _TICKS)
        below.x_range = above.x_range
        below.yaxis[0].formatter = _whole_numbers("tick !== 0")  # the half above says it
        above.xaxis.visible = False
        above.min_border_bottom = 8  # room for the lower half of its 0
        above.y_range = DataRange1d(start=0, range_padding=0.15, min_interval=1)
        below.y_range = DataRange1d(end=0, flipped=False, range_padding=0.15, min_interval=1)
        below.xaxis[0].formatter = wall_ticks(zone)
        self._draw(above, below)
        self.plot = column(above, below, sizing_mode="stretch_width", spacing=0)

    def _draw(self, above: figure, below: figure) -> None:
        source = self._source
        for plot, name, colour in (
            (above, "in_use", palette.ACCENT),
            (below, "queued", palette.VIOLET),
        ):
            plot.varea_step(
                "at", 0, name, source=source, step_mode="after", fill_color=colour, fill_alpha=0.35
            )
            plot.step("at", name, source=source, mode="after", color=colour, line_width=1.5)
            plot.add_layout(Span(location=0, dimension="width", line_color=palette.QUIET))
        above.step(
            "at", "limit", source=source, mode="after", color=palette.GAP, line_width=2,
            line_dash="6 4",
        )  # fmt: skip

    def show(self, history: Sequence[PoolSample]) -> None:
        """Send the samples that are new; all of them where they do not follow on those shown."""
        last = self._last
        new = [sample for sample in history if last is None or sample.at > last.at]
        follows = last is not None and last in history
        self._last = history[-1] if history else None
        if follows and new:
            self._source.stream(_columns(new), rollover=_KEPT)
        elif not follows:
            self._source.data = _columns(history)


def _half(label: str, height: int) -> figure:
    plot = figure(
        height=height, sizing_mode="stretch_width", x_axis_type="datetime", tools="",
        toolbar_location=None, outline_line_color=None, output_backend="canvas",
        min_border_left=70, min_border_right=28, min_border_top=4, min_border_bottom=0,
    )  # fmt: skip
    plot.yaxis[0].axis_label = label
    plot.yaxis[0].formatter = _whole_numbers("true")
    plot.yaxis[0].ticker = BasicTicker(desired_num_ticks=4)
    plot.ygrid.ticker = plot.yaxis[0].ticker
    return plot


def _whole_numbers(condition: str) -> CustomJSTickFormatter:
    return CustomJSTickFormatter(
        code=f"return Number.isInteger(tick) && {condition} ? String(Math.abs(tick)) : ''"
    )


def _columns(samples: Sequence[PoolSample]) -> Columns:
    if not samples:  # a stepped area without a point hangs the browser in an endless loop
        return {"at": [nan], "in_use": [nan], "queued": [nan], "limit": [nan]}
    return {
        "at": [milliseconds(sample.at) for sample in samples],
        "in_use": [sample.in_use for sample in samples],
        "queued": [-sample.queued for sample in samples],
        "limit": [sample.limit for sample in samples],
    }


class SlotFigure:
    """The latest runs of a pool, one lane for each slot."""

    def __init__(self, zone: str) -> None:
        self._source = ColumnDataSource(_no_bars())
        self._shown: object = None
        self._x, self._y = Range1d(start=0, end=1), Range1d(start=1, end=-0.6)
        self.plot = figure(
            height=120, sizing_mode="stretch_width", x_axis_type="datetime", x_range=self._x,
            y_range=self._y, tools="", toolbar_location=None, outline_line_color=None,
            output_backend="canvas", min_border_right=28,
        )  # fmt: skip
        self.plot.xaxis[0].formatter = wall_ticks(zone)
        self.plot.yaxis[0].axis_label = "slot"
        self.plot.yaxis[0].formatter = CustomJSTickFormatter(
            code="return Number.isInteger(tick) && tick >= 0 ? String(tick + 1) : ''"
        )
        self.plot.ygrid.visible = False
        bars = self.plot.hbar(
            y="lane", left="left", right="right", height=0.72, source=self._source,
            fill_color="colour", line_color="colour", hatch_pattern="hatch", hatch_color="colour",
            fill_alpha="alpha", hatch_alpha=0.8, hatch_weight=1.5, hatch_scale=8,
        )  # fmt: skip
        tooltips = [
            ("job", "@job"),
            ("function", "@function"),
            ("state", "@state"),
            ("ran", "@ran"),
        ]
        self.plot.add_tools(HoverTool(renderers=[bars], tooltips=tooltips, visible=False))

    def show(self, pool: PoolPicture, now: float) -> None:
        """Send the runs where one began or ended; what still runs reaches up to `now`, in ms."""
        lanes = slot_lanes(pool.runs)
        is_moving = any(placed.run.finished_at is None for placed in lanes)
        shown = (pool.name, pool.runs, now if is_moving else 0)
        if shown == self._shown:
            return
        self._shown = shown
        bars = _no_bars()
        for placed in lanes:
            run = placed.run
            end = milliseconds(run.finished_at) if run.finished_at is not None else now
            took = run.finished_at - run.started_at if run.finished_at is not None else None
            bars["lane"].append(placed.lane)
            bars["left"].append(milliseconds(run.started_at))
            bars["right"].append(end)
            bars["job"].append(str(run.job))
            bars["function"].append(plain(run.function, 80))
            bars["state"].append(run.state)
            bars["ran"].append(labels.duration(took))
            bars["colour"].append(palette.colour(run.state))
            bars["hatch"].append(_HATCHES.get(run.state, " "))
            bars["alpha"].append(0.25 if run.state in _HATCHES else 0.85)
        self._source.data = bars
        self._fit(bars, max((placed.lane for placed in lanes), default=0), now)

    def _fit(self, bars: Columns, last_lane: int, now: float) -> None:
        lanes = min(last_lane + 1, _MOST_LANES)
        starts = [left for left in bars["left"] if isinstance(left, float)]
        self._x.update(start=min(starts, default=now - 60_000), end=now)
        self._y.update(start=lanes - 0.4, end=-0.6)
        self.plot.height = 90 + _ROW * lanes


# A failed run is hatched both ways, a canceled one in one direction: they read without colour.
_HATCHES = {"failed": "x", "canceled": "/", "canceling": "/", "running": ">"}


def _no_bars() -> Columns:
    names = ("lane", "left", "right", "job", "function", "state", "ran", "colour", "hatch", "alpha")
    return {name: [] for name in names}
