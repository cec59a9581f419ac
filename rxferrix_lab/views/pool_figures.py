"""Two figures of a pool: slots in use over its limit with the queue mirrored below, and its runs by slot.

Each is made once and then fed: only what is new is sent.
"""

from collections.abc import Sequence

from bokeh.models import ColumnDataSource, CustomJSTickFormatter, HoverTool, Range1d, Span
from bokeh.plotting import figure

from rxferrix_lab.reactive.picture import PoolPicture, PoolSample
from rxferrix_lab.reactive.slot_lanes import slot_lanes
from rxferrix_lab.views import labels, palette
from rxferrix_lab.views.lane_figure import plain
from rxferrix_lab.views.mark_glyphs import milliseconds
from rxferrix_lab.views.zone_ticks import wall_ticks

_KEPT = 900  # samples
_MOST_LANES = 64
_ROW = 18  # pixels


class OccupancyFigure:
    """Slots in use above the line, those that wait below it."""

    def __init__(self, zone: str) -> None:
        self._source = ColumnDataSource({"at": [], "in_use": [], "queued": [], "limit": []})
        self._last: PoolSample | None = None
        self.plot = figure(
            height=230, sizing_mode="stretch_width", x_axis_type="datetime", tools="",
            toolbar_location=None, output_backend="canvas", min_border_right=28,
        )  # fmt: skip
        self.plot.xaxis[0].formatter = wall_ticks(zone)
        self.plot.yaxis[0].formatter = CustomJSTickFormatter(
            code="return Number.isInteger(tick) ? String(Math.abs(tick)) : ''"
        )
        self.plot.yaxis[0].axis_label = "waiting   ·   in use"
        self._draw()

    def _draw(self) -> None:
        shared = {"source": self._source, "step_mode": "after"}
        self.plot.varea_step("at", 0, "in_use", fill_color=palette.ACCENT, fill_alpha=0.4, **shared)
        self.plot.varea_step("at", "queued", 0, fill_color=palette.VIOLET, fill_alpha=0.4, **shared)
        lines = {"in_use": palette.ACCENT, "queued": palette.VIOLET}
        for column, colour in lines.items():
            self.plot.step(
                "at", column, source=self._source, mode="after", color=colour, line_width=1.5
            )
        self.plot.step(
            "at", "limit", source=self._source, mode="after", color=palette.GAP, line_width=2,
            line_dash="6 4",
        )  # fmt: skip
        self.plot.add_layout(Span(location=0, dimension="width", line_color=palette.QUIET))

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


def _columns(samples: Sequence[PoolSample]) -> dict[str, list[float]]:
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
        self._x, self._y = Range1d(0, 1), Range1d(1, -0.6)
        self.plot = figure(
            height=120, sizing_mode="stretch_width", x_axis_type="datetime", x_range=self._x,
            y_range=self._y, tools="", toolbar_location=None, output_backend="canvas",
            min_border_right=28,
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
        tooltips = [("job", "@job"), ("function", "@function"), ("state", "@state"), ("ran", "@ran")]
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

    def _fit(self, bars: dict[str, list[object]], last_lane: int, now: float) -> None:
        lanes = min(last_lane + 1, _MOST_LANES)
        starts = [left for left in bars["left"] if isinstance(left, float)]
        self._x.update(start=min(starts, default=now - 60_000), end=now)
        self._y.update(start=lanes - 0.4, end=-0.6)
        self.plot.height = 90 + _ROW * lanes


# A failed run is hatched both ways, a canceled one in one direction: they read without colour.
_HATCHES = {"failed": "x", "canceled": "/", "canceling": "/", "running": ">"}


def _no_bars() -> dict[str, list[object]]:
    names = ("lane", "left", "right", "job", "function", "state", "ran", "colour", "hatch", "alpha")
    return {name: [] for name in names}
