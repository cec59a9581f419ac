"""Durations as they are typed on a line: 30s, 5m, 1h30m."""

import re
from datetime import timedelta

from rxferrix_lab.errors import InstantError

_PART = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(ms|sec|s|min|m|h|d)", re.IGNORECASE)
_SECONDS = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}


def period(text: str) -> timedelta:
    """The duration.

    >>> period("1h30m") == timedelta(minutes=90)
    True

    Raises:
        InstantError: for anything else.
    """
    total, at = 0.0, 0
    while at < len(text.rstrip()):
        found = _PART.match(text, at)
        if found is None:
            break
        total += float(found.group(1)) * _SECONDS[found.group(2).lower()]
        at = found.end()
    if not total or at < len(text.rstrip()):
        raise InstantError(f'"{text:.40}" is not a duration; write 30s, 5m, 2h, 1d or 1h30m')
    return timedelta(seconds=total)
