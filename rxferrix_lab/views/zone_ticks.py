"""Tick labels of time axes: the wall clock of a zone by the browser's own rules, and UTC.

Bokeh has no zones, so every time axis runs in UTC milliseconds and only the labels are local.
"""

from bokeh.models import Axis, CustomJSTickFormatter, DatetimeAxis

# The date and the distance from UTC are written where they differ from the tick before.
_WALL = """
const show = (at) => {
  const parts = {};
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone, hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23",
    day: "numeric", month: "short", timeZoneName: "shortOffset",
  });
  for (const {type, value} of format.formatToParts(new Date(at))) { parts[type] = value; }
  const minutes = parts.hour + ":" + parts.minute;
  return {
    time: at % 60000 === 0 ? minutes : minutes + ":" + parts.second,
    day: parts.day + " " + parts.month,
    offset: parts.timeZoneName.replace("GMT", "UTC"),
  };
};
const here = show(tick);
const before = index > 0 ? show(ticks[index - 1]) : {day: "", offset: ""};
const lines = [];
if (here.day !== before.day) { lines.push(here.day); }
if (here.offset !== before.offset) { lines.push(here.offset); }
lines.push(here.time);
return lines.join("\\n");
"""

_UTC = """
const show = (at) => new Date(at).toISOString();
const here = show(tick);
const time = tick % 60000 === 0 ? here.slice(11, 16) : here.slice(11, 19);
const is_new_day = index === 0 || here.slice(0, 10) !== show(ticks[index - 1]).slice(0, 10);
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun",
                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const day = Number(here.slice(8, 10)) + " " + months[Number(here.slice(5, 7)) - 1];
return is_new_day ? time + "\\n" + day : time;
"""

_NAIVE = """
const here = new Date(tick).toISOString();
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun",
                "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const time = here.slice(11, 16);
if (!is_long || time !== "00:00") { return time; }
return Number(here.slice(8, 10)) + " " + months[Number(here.slice(5, 7)) - 1] + " " + time;
"""


def wall_ticks(zone: str) -> CustomJSTickFormatter:
    """Labels of UTC milliseconds as the clock of a zone shows them."""
    return CustomJSTickFormatter(code=_WALL, args={"zone": zone})


def wall_axis(zone: str) -> Axis:
    """An axis of UTC milliseconds that shows the clock of a zone."""
    axis = _time_axis(f"wall clock {zone}")
    axis.formatter = wall_ticks(zone)
    return axis


def _time_axis(label: str) -> Axis:
    return DatetimeAxis(axis_label=label)


def utc_ticks() -> CustomJSTickFormatter:
    """Labels of UTC milliseconds as they are."""
    return CustomJSTickFormatter(code=_UTC)


def naive_ticks(*, is_long: bool) -> CustomJSTickFormatter:
    """Labels of a wall clock that is itself the axis; with the date at midnight over many days."""
    return CustomJSTickFormatter(code=_NAIVE, args={"is_long": is_long})
