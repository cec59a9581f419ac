"""Lanes of runs over a span of time, with the clock changes within it marked.

The wall clock of the lanes' zone stands above, UTC below. Draws a `Lanes` snapshot as it is.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from bokeh.models import FixedTicker, HoverTool, Range1d
from bokeh.models.annotations import BoxAnnotation, Label, Span
from bokeh.models.text import BaseText
from bokeh.plotting import figure

from rxferrix_lab.domain.zone import ClockChange
from rxferrix_lab.reactive.run_marks import Lane, Lanes, Mark, time_of
from rxferrix_lab.views import palette
from rxferrix_lab.views.mark_glyphs import draw_marks, milliseconds
from rxferrix_lab.views.zone_ticks import utc_ticks, wall_axis

_ROW = 26  # pixels
_AXES = 150
_LONGEST_LABEL = 30
_FOLD_TEXT = "#b9770e"


def lane_figure(lanes: Lanes, *, now: datetime | None = None) -> figure:
    """The lanes as a figure; `now` is marked where it lies within the span."""
    rows = max(1, len(lanes.lanes))
    plot = figure(
        height=_AXES + _ROW * (rows + 1),
        sizing_mode="stretch_width",
        x_axis_type="datetime",
        x_range=Range1d(start=milliseconds(lanes.start), end=milliseconds(lanes.end)),
        # A row below the lanes is left free for what is written at each clock change.
        y_range=Range1d(start=rows + 0.6, end=-0.6),
        tools="xpan,xwheel_zoom,reset",
        active_scroll=None,
        toolbar_location=None,
        outline_line_color=None,
        min_border_right=28,  # the last label is wider than what is right of its tick
        output_backend="canvas",
    )
    _axes(plot, lanes)
    for change in lanes.changes:
        _mark_change(plot, change, rows)
    _draw(plot, lanes.lanes)
    if now is not None and lanes.start <= now <= lanes.end:
        plot.add_layout(
            Span(
                location=milliseconds(now),
                dimension="height",
                line_color=palette.QUIET,
                line_width=2,
                name="now",
            )
        )
    return plot


def marks_with_rows(lanes: Sequence[Lane]) -> list[tuple[Mark, float, str]]:
    """The marks of all lanes with their rows; times that do not exist have no place on a lane."""
    return [
        (mark, float(row), lane.named.name)
        for row, lane in enumerate(lanes)
        for mark in lane.marks
        if mark.kind != "skipped time"
    ]


def plain(text: str, longest: int = _LONGEST_LABEL) -> str:
    """A text cut to a length, literally: Bokeh would typeset `$$…$$` as a formula."""
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    return shown.replace("$$", "$\u200b$").replace("\\", "\u200b\\\u200b")


def _axes(plot: figure, lanes: Lanes) -> None:
    below = plot.xaxis[0]
    below.formatter, below.axis_label = utc_ticks(), "UTC"
    plot.add_layout(wall_axis(lanes.zone), "above")
    names: dict[float | str, str | BaseText] = {
        row: plain(lane.named.name) for row, lane in enumerate(lanes.lanes)
    }
    axis = plot.yaxis[0]
    axis.ticker = FixedTicker(ticks=list(range(len(names))))
    axis.major_label_overrides = names
    axis.minor_tick_line_color = axis.major_tick_line_color = axis.axis_line_color = None
    plot.ygrid.ticker = axis.ticker


def _mark_change(plot: figure, change: ClockChange, rows: int) -> None:
    """Shade what the change concerns: where moved runs land, or both passings of the same hour."""
    colour = palette.GAP if change.is_gap else palette.FOLD
    at, end = milliseconds(change.instant), milliseconds(change.instant + change.length)
    plot.add_layout(
        BoxAnnotation(
            left=at, right=end, top=-0.6, bottom=rows - 0.5,
            fill_color=colour, fill_alpha=0.12, line_color=None,
            hatch_pattern="/" if change.is_gap else "\\", hatch_color=colour, hatch_alpha=0.35,
            hatch_scale=10, hatch_weight=1, level="underlay",
        )
    )  # fmt: skip
    if not change.is_gap:
        start = milliseconds(change.instant - change.length)
        plot.add_layout(
            BoxAnnotation(
                left=start, right=at, top=-0.6, bottom=rows - 0.5,
                fill_color=colour, fill_alpha=0.12, line_color=None,
                level="underlay",
            )
        )  # fmt: skip
    plot.add_layout(
        Span(location=at, dimension="height", line_color=colour, line_width=2, line_dash="6 4")
    )
    plot.add_layout(
        Label(
            x=at, y=rows, x_offset=6, text=change_label(change), text_color=text_colour(change),
            text_font_size="12px", text_font_style="bold", text_baseline="middle",
        )
    )  # fmt: skip


def text_colour(change: ClockChange) -> str:
    """A colour for words about a change; the shade of a fold is too pale to read on white."""
    return palette.GAP if change.is_gap else _FOLD_TEXT


def change_label(change: ClockChange) -> str:
    """A few words for a mark at a change: `▲ forward 03:00 → 04:00`."""
    start, end = wall_ends(change)
    return f"▲ forward {start} → {end}" if change.is_gap else f"▼ back {end} → {start}"


def wall_ends(change: ClockChange) -> tuple[str, str]:
    """The first wall time that a change skips or repeats and the first after; dated over a day."""
    start, end = change.wall_start, change.wall_end
    if change.length < timedelta(days=1):
        return time_of(start), time_of(end)
    return f"{start:%-d %b} {time_of(start)}", f"{end:%-d %b} {time_of(end)}"


def _draw(plot: figure, lanes: Sequence[Lane]) -> None:
    renderers = draw_marks(plot, marks_with_rows(lanes), "cron")
    plot.add_tools(
        HoverTool(
            renderers=renderers,
            tooltips=[("cron", "@cron"), ("what", "@said"), ("instant", "@utc")],
            visible=False,
        )
    )
