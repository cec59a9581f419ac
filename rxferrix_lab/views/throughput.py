"""How many jobs ended in each minute of the last hour, by state."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import panel as pn
from bokeh.models import BasicTicker, ColumnDataSource, DataRange1d, HoverTool
from bokeh.plotting import figure

from rxferrix_lab.reactive.picture import BEFORE_ALL, Bucket
from rxferrix_lab.views.palette import colour
from rxferrix_lab.views.zone_ticks import wall_ticks

ENDED = ("succeeded", "failed", "canceled")
MINUTE = timedelta(minutes=1)
SHOWN = 60


class Throughput:
    """A stacked bar for each minute."""

    def __init__(self, zone: str) -> None:
        self._source = ColumnDataSource(data=_columns((), BEFORE_ALL))
        self._plot = figure(
            height=150,
            sizing_mode="stretch_width",
            x_axis_type="datetime",
            tools="",
            toolbar_location=None,
            outline_line_color=None,
            min_border_right=18,
        )
        bars = self._plot.vbar_stack(
            list(ENDED),
            x="middle",
            width=50_000,
            source=self._source,
            color=[colour(state) for state in ENDED],
            line_width=0,
        )
        tips = [(state, f"@{state}") for state in ENDED]
        self._plot.add_tools(HoverTool(renderers=[*bars], tooltips=[("from", "@label"), *tips]))
        self._style(zone)
        self.pane = pn.pane.Bokeh(self._plot, sizing_mode="stretch_width", margin=0)
        self._shown: Any = None

    def _style(self, zone: str) -> None:
        plot = self._plot
        plot.y_range = DataRange1d(start=0)
        plot.yaxis.minor_tick_line_color = None
        plot.yaxis.ticker = BasicTicker(min_interval=1, desired_num_ticks=4)
        plot.xgrid.grid_line_color = None
        plot.xaxis[0].formatter = wall_ticks(zone)

    def show(self, buckets: Sequence[Bucket], now: datetime, zone: str) -> None:
        """Show the hour until now; nothing is sent where it is the one shown."""
        minute = now.replace(second=0, microsecond=0)
        wanted = (tuple(buckets), minute, zone)
        if wanted == self._shown:
            return
        if self._shown is None or self._shown[2] != zone:
            self._plot.xaxis[0].formatter = wall_ticks(zone)
        was, self._shown = self._shown, wanted
        fresh = _columns(buckets, minute)
        if was is None or was[1] != minute:
            self._source.data = fresh
        else:
            shown: Any = self._source.data
            self._source.patch(_changed(shown, fresh))


def _changed(
    shown: Mapping[str, Sequence[Any]], fresh: Mapping[str, Sequence[Any]]
) -> dict[str, list[tuple[int, Any]]]:
    """The values that differ, by column and place: few, where only the newest minute grew."""
    changes = {
        name: [
            (at, new)
            for at, (old, new) in enumerate(zip(shown[name], fresh[name], strict=True))
            if old != new
        ]
        for name in ENDED
    }
    return {name: found for name, found in changes.items() if found}


def _columns(buckets: Sequence[Bucket], minute: datetime) -> dict[str, Any]:
    found = {bucket.at: bucket for bucket in buckets}
    minutes = [minute - MINUTE * back for back in reversed(range(SHOWN))]
    rows = [found.get(at, Bucket(at)) for at in minutes]
    return {
        "middle": [at.timestamp() * 1000 + 30_000 for at in minutes],
        "label": [at.strftime("%H:%M UTC") for at in minutes],
        **{state: [getattr(row, state) for row in rows] for state in ENDED},
    }
