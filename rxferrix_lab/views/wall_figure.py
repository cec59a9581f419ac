"""A zone's wall clock against UTC around one clock change, with the runs of one schedule on it.

The gap is hatched, the repeated time shaded. Draws a `WallPicture` snapshot as it is.
"""

from datetime import timedelta

from bokeh.models import DatetimeTicker, HoverTool, Range1d
from bokeh.models.annotations import BoxAnnotation, Label
from bokeh.plotting import figure

from rxferrix_lab.reactive.clock_pictures import WallPicture
from rxferrix_lab.views import palette
from rxferrix_lab.views.lane_figure import text_colour, wall_ends
from rxferrix_lab.views.mark_glyphs import draw_marks, milliseconds
from rxferrix_lab.views.zone_ticks import naive_ticks, utc_ticks, wall_axis

_HEIGHT = 420
_LONG = timedelta(hours=24)


def wall_figure(picture: WallPicture) -> figure:
    """The picture as a figure."""
    plot = figure(
        height=_HEIGHT,
        sizing_mode="stretch_width",
        x_axis_type="datetime",
        y_axis_type="datetime",
        x_range=Range1d(start=milliseconds(picture.start), end=milliseconds(picture.end)),
        tools="",
        toolbar_location=None,
        outline_line_color=None,
        min_border_right=28,  # the last label is wider than what is right of its tick
        output_backend="canvas",
    )
    _axes(plot, picture)
    _shade(plot, picture)
    _draw_clock(plot, picture)
    marks = [(mark, milliseconds(mark.wall), "") for mark in picture.marks]
    renderers = draw_marks(plot, marks, "cron")
    tooltips = [("what", "@said"), ("instant", "@utc")]
    plot.add_tools(HoverTool(renderers=renderers, tooltips=tooltips, visible=False))
    return plot


def _axes(plot: figure, picture: WallPicture) -> None:
    plot.xaxis[0].formatter, plot.xaxis[0].axis_label = utc_ticks(), "UTC"
    plot.add_layout(wall_axis(picture.zone), "above")
    is_long = picture.end - picture.start > _LONG
    plot.yaxis[0].formatter = naive_ticks(is_long=is_long)
    plot.yaxis[0].axis_label = "wall clock"
    plot.yaxis[0].ticker = DatetimeTicker(desired_num_ticks=10)
    plot.ygrid.ticker = plot.yaxis[0].ticker


def _shade(plot: figure, picture: WallPicture) -> None:
    change = picture.change
    colour = palette.GAP if change.is_gap else palette.FOLD
    bottom, top = milliseconds(change.wall_start), milliseconds(change.wall_end)
    band = BoxAnnotation(
        bottom=bottom, top=top, fill_color=colour, fill_alpha=0.12, line_color=None,
        level="underlay",
    )  # fmt: skip
    if change.is_gap:
        band.update(hatch_pattern="/", hatch_color=colour, hatch_alpha=0.5, hatch_scale=10)
    plot.add_layout(band)
    if not change.is_gap:
        first, last = change.instant - change.length, change.instant + change.length
        plot.add_layout(
            BoxAnnotation(
                left=milliseconds(first), right=milliseconds(last), fill_color=colour,
                fill_alpha=0.08, line_color=None, level="underlay",
            )
        )  # fmt: skip
    # Below the band and right of the change there is no line, whatever the change and the width.
    plot.add_layout(
        Label(
            x=milliseconds(picture.end), y=bottom, x_offset=-8, y_offset=-12,
            text=_caption(picture), text_align="right", text_baseline="top",
            text_color=text_colour(change), text_font_size="13px", text_font_style="bold",
        )
    )  # fmt: skip


def _caption(picture: WallPicture) -> str:
    change = picture.change
    times = "–".join(wall_ends(change))
    if change.is_gap:
        return f"GAP {times} does not exist"
    return f"FOLD {times} happens twice"


def _draw_clock(plot: figure, picture: WallPicture) -> None:
    """The clock's line, and a dotted jump where it is set."""
    last: tuple[float, float] | None = None
    for stretch in picture.stretches:
        xs = [milliseconds(stretch.start), milliseconds(stretch.end)]
        ys = [x + stretch.offset / timedelta(milliseconds=1) for x in xs]
        plot.line(xs, ys, line_color=palette.ACCENT, line_width=3, name="wall clock")
        if last is not None:
            jump = [last[0], xs[0]], [last[1], ys[0]]
            plot.line(*jump, line_color=palette.ACCENT, line_width=2, line_dash="2 4", name="jump")
        last = xs[1], ys[1]
