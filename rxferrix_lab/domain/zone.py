"""Time zones by name, and the changes of their clocks.

The rules of the tzdata package come first and the machine's second, because machines carry old
rules. Answers what a name means and when its clock is put forward or back. Knows no schedule, and
never asks what zone the machine is in.
"""

import difflib
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, lru_cache
from importlib import resources
from io import BytesIO
from typing import Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rxferrix_lab.domain.epoch import (
    DAY_S,
    EARLIEST_S,
    HORIZON_S,
    WALL_EPOCH,
    at_second,
    second_of,
    since_epoch,
)
from rxferrix_lab.errors import UnknownZoneError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9+_-]*(?:/[A-Za-z0-9+_-]+){0,3}")
_MAX_NAME = 64
# In a machine's zone folder, but no zones of IANA: copies, and the machine's own setting.
_NOT_ZONES = frozenset({"localtime", "posix", "posixrules", "right"})


class PackagedZone(ZoneInfo):
    """A zone of the tzdata package; unlike other results of `from_file`, it copies and pickles."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return load_zone, (self.key,)


@dataclass(frozen=True, slots=True)
class ClockChange:
    """One moment at which a zone's clock is put forward (a gap) or back (a fold).

    Attributes:
        instant: the change, in UTC.
        offset_before: distance of the clock from UTC until the change.
        offset_after: the same from the change on; never equal to `offset_before`.
    """

    instant: datetime
    offset_before: timedelta
    offset_after: timedelta

    @property
    def is_gap(self) -> bool:
        """Whether wall times are skipped; otherwise they come twice."""
        return self.offset_after > self.offset_before

    @property
    def kind(self) -> Literal["gap", "fold"]:
        """`gap` where wall times are skipped, `fold` where they come twice."""
        return "gap" if self.is_gap else "fold"

    @property
    def length(self) -> timedelta:
        """How far the clock is moved, in either direction."""
        return abs(self.offset_after - self.offset_before)

    @property
    def wall_start(self) -> datetime:
        """First wall time, naive, that is skipped or repeated."""
        return self._wall(min(self.offset_before, self.offset_after))

    @property
    def wall_end(self) -> datetime:
        """First wall time, naive, after those that are skipped or repeated."""
        return self._wall(max(self.offset_before, self.offset_after))

    def _wall(self, offset: timedelta) -> datetime:
        return WALL_EPOCH + (since_epoch(self.instant) + offset)


@cache
def _packaged_names() -> frozenset[str]:
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("ascii").split())


def zone_names() -> list[str]:
    """Names of the tzdata package, sorted.

    >>> "Europe/Bucharest" in zone_names()
    True
    """
    return sorted(_packaged_names())


@lru_cache(maxsize=1024)
def load_zone(name: str) -> ZoneInfo:
    """The zone of an IANA name, by the tzdata package's rules or else the machine's.

    Raises:
        UnknownZoneError: if neither knows the name; carries names that are close to it.

    >>> load_zone("Europe/Bucharest").key
    'Europe/Bucharest'
    """
    _check_text(name)
    if name in _packaged_names():
        file = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
        return PackagedZone.from_file(BytesIO(file.read_bytes()), key=name)
    # The name becomes a path on the machine, so its shape is settled before it gets there.
    if len(name) > _MAX_NAME or not _NAME.fullmatch(name) or name.split("/")[0] in _NOT_ZONES:
        raise UnknownZoneError(name, _names_close_to(name))
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UnknownZoneError(name, _names_close_to(name)) from None


def _check_text(name: object) -> None:
    if not isinstance(name, str):
        raise UnknownZoneError(repr(name))


def _names_close_to(name: str) -> list[str]:
    by_lower = {known.lower(): known for known in zone_names()}
    wanted = name[:_MAX_NAME].strip().lower().replace(" ", "_")
    return [by_lower[close] for close in difflib.get_close_matches(wanted, by_lower, n=3)]


def transitions(zone: ZoneInfo, start: datetime, end: datetime) -> list[ClockChange]:
    """Changes of the zone's clock from `start` (included) to `end` (excluded), in order.

    Exact to the second in any year, also past the end of the zone's table, where its rule goes on.

    >>> [change.instant.isoformat() for change in transitions(
    ...     load_zone("Europe/Bucharest"), at_second(1_767_225_600), at_second(1_798_761_600))]
    ['2026-03-29T01:00:00+00:00', '2026-10-25T01:00:00+00:00']
    """
    first, last = second_of(start), second_of(end)
    return [
        ClockChange(at_second(second), timedelta(0, before), timedelta(0, after))
        for second, before, after in changes_between(zone, first, last)
        if start <= at_second(second) < end
    ]


def changes_between(zone: ZoneInfo, first: int, last: int) -> list[tuple[int, int, int]]:
    """The same in seconds: (instant, offset before, offset after) for first <= instant <= last."""
    first, last = max(first, EARLIEST_S), min(last, HORIZON_S)
    return [
        change
        for block in range(first // _BLOCK_S, last // _BLOCK_S + 1)
        for change in _changes_of_block(zone, block)
        if first <= change[0] <= last
    ]


def offset_at(zone: ZoneInfo, second: int) -> int:
    """Seconds that the zone's clock is ahead of UTC at a second since 1970."""
    offset = at_second(second).astimezone(zone).utcoffset()
    assert offset is not None  # a ZoneInfo always knows
    return offset.days * DAY_S + offset.seconds


_BLOCK_S = 366 * DAY_S
# Half of the looking costs nothing: the shortest time after which any zone ever took a change back
# is a week (America/Recife, 2000).
_STEP_S = 2 * DAY_S


@lru_cache(maxsize=8192)
def _changes_of_block(zone: ZoneInfo, block: int) -> tuple[tuple[int, int, int], ...]:
    start = max(block * _BLOCK_S, EARLIEST_S)
    stop = min((block + 1) * _BLOCK_S, HORIZON_S)
    found: list[tuple[int, int, int]] = []
    # The second before the block belongs to the search: its first second may be a change.
    known, offset = start - 1, offset_at(zone, start - 1)
    for second in (*range(start, stop - 1, _STEP_S), stop - 1):
        ahead = offset_at(zone, second)
        while offset != ahead:
            change, after = _first_change(zone, known, second, offset)
            found.append((change, offset, after))
            known, offset = change, after
        known = second
    return tuple(found)


def _first_change(zone: ZoneInfo, low: int, high: int, offset: int) -> tuple[int, int]:
    """A second in (low, high] at which the offset leaves `offset`, and what it becomes."""
    after = offset
    while high - low > 1:
        middle = (low + high) // 2
        seen = offset_at(zone, middle)
        if seen == offset:
            low = middle
        else:
            high, after = middle, seen
    return high, after if after != offset else offset_at(zone, high)
