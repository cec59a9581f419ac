"""Values as text: durations, instants in a zone, numbers. Pure, and HTML only where it says so."""

from datetime import datetime, timedelta
from functools import lru_cache
from html import escape
from zoneinfo import ZoneInfo

from rxferrix_lab.domain.zone import load_zone
from rxferrix_lab.errors import UnknownZoneError

THIN = "\N{NARROW NO-BREAK SPACE}"
NONE = "–"  # where there is no value
_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))


def esc(text: object) -> str:
    """The text as HTML."""
    return escape(str(text))


def short(text: str, most: int = 60) -> str:
    """The text in one line, cut where it is too long.

    >>> short("a" * 9, 5)
    'aaaa…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def number(value: int) -> str:
    """A whole number with its thousands apart.

    >>> number(1412).replace(THIN, " ")
    '1 412'
    """
    return f"{value:,}".replace(",", THIN)


def percent(share: float | None) -> str:
    """A share as per cent; never 100 % where something is missing.

    >>> percent(0.9999), percent(1.0), percent(None)
    ('99.9 %', '100 %', '–')
    """
    if share is None:
        return NONE
    if share >= 1:
        return "100 %"
    return f"{int(share * 1000) / 10:g} %"


def duration(length: timedelta | None) -> str:
    """A length of time in its two largest units.

    >>> duration(timedelta(seconds=184)), duration(timedelta(milliseconds=42))
    ('3 min 4 s', '42 ms')
    """
    if length is None:
        return NONE
    seconds = length.total_seconds()
    if seconds < 0:
        return "−" + duration(-length)
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    left = round(seconds)
    parts: list[str] = []
    for size, unit in _UNITS:
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count} {unit}" if count else "")
        if len(parts) == 2:
            break
    return " ".join(part for part in parts if part)


@lru_cache(maxsize=64)
def zone_of(name: str) -> ZoneInfo:
    """The zone of that name; UTC for one that there is not."""
    try:
        return load_zone(name)
    except UnknownZoneError:
        return load_zone("UTC")


def clock_time(instant: datetime | None, zone: str) -> str:
    """The time of day in the zone, to the second."""
    return NONE if instant is None else instant.astimezone(zone_of(zone)).strftime("%H:%M:%S")


def instant(moment: datetime | None, zone: str) -> str:
    """Day and time in the zone, to the second.

    >>> from datetime import UTC
    >>> instant(datetime(2026, 3, 29, 1, tzinfo=UTC), "Europe/Bucharest")
    'Sun 29 Mar 04:00:00'
    """
    if moment is None:
        return NONE
    return moment.astimezone(zone_of(zone)).strftime("%a %-d %b %H:%M:%S")


def full_instant(moment: datetime | None, zone: str) -> str:
    """Date, time, zone and distance from UTC.

    >>> from datetime import UTC
    >>> full_instant(datetime(2026, 3, 29, 1, tzinfo=UTC), "Europe/Bucharest")
    '2026-03-29 04:00:00 EEST (UTC+3)'
    """
    if moment is None:
        return NONE
    local = moment.astimezone(zone_of(zone))
    name, distance = local.strftime("%Z"), offset(local)
    has_name = name.isalpha() and name != distance
    return f"{local:%Y-%m-%d %H:%M:%S} " + (f"{name} ({distance})" if has_name else distance)


def offset(local: datetime) -> str:
    """The distance of an aware time from UTC.

    >>> from datetime import UTC
    >>> offset(datetime(2026, 1, 1, tzinfo=UTC))
    'UTC'
    """
    minutes = int((local.utcoffset() or timedelta(0)).total_seconds() // 60)
    hours, rest = divmod(abs(minutes), 60)
    if not minutes:
        return "UTC"
    return f"UTC{'+' if minutes > 0 else '−'}{hours}" + (f":{rest:02}" if rest else "")


def ago(moment: datetime | None, now: datetime) -> str:
    """How far from now, in words.

    >>> from datetime import UTC
    >>> ago(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 0, 3, tzinfo=UTC))
    '3 min ago'
    """
    if moment is None:
        return NONE
    distance = now - moment
    if abs(distance) < timedelta(seconds=1):
        return "now"
    return f"{duration(distance)} ago" if distance > timedelta(0) else f"in {duration(-distance)}"
