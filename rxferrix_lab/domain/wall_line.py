"""The wall clock of one zone, laid along UTC and cut where the clock is changed.

Between two cuts wall time and UTC differ by one offset, so a schedule can be walked in plain
seconds. The rule is the contract's (5.4): a skipped wall time keeps the offset from before its gap,
and so comes later by the gap; a repeated one belongs to its first passing. That is PEP 495 with
fold=0. Knows no schedule and no datetime.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from zoneinfo import ZoneInfo

from rxferrix_lab.domain.epoch import DAY_S, EARLIEST_S, HORIZON_S
from rxferrix_lab.domain.occurrence import Note
from rxferrix_lab.domain.zone import changes_between, offset_at

_WINDOW_S = 366 * DAY_S
# The widest gap is a day (Samoa), and wall time is within a day of UTC: a cut that matters to a
# second lies within two days of it.
_MARGIN_S = 3 * DAY_S
_MAX_WINDOWS = 512


@dataclass(frozen=True, slots=True)
class Stretch:
    """Wall times from `start` to before `end` that lie `offset` seconds ahead of UTC."""

    start: int
    end: int
    offset: int
    note: Note


class Stretches:
    """Consecutive stretches, with the columns that a search wants.

    `starts` and `ends` are UTC seconds. `ends` is the latest end so far, because the stretch of a
    gap reaches past the start of its successor; so both can be searched by bisection. Wall times
    from `floor` to before `limit` lie in no other stretches than these.
    """

    __slots__ = ("all", "ends", "floor", "limit", "starts", "wall_starts")

    def __init__(self, stretches: tuple[Stretch, ...], floor: int, limit: int) -> None:
        self.all = stretches
        self.floor = floor
        self.limit = limit
        self.wall_starts = [stretch.start for stretch in stretches]
        self.starts = [stretch.start - stretch.offset for stretch in stretches]
        self.ends = list(accumulate((part.end - part.offset for part in stretches), max))

    def index_of_wall(self, wall: int) -> int:
        """Position of the stretch that holds a wall time."""
        return bisect_right(self.wall_starts, wall) - 1


class WallLine:
    """The stretches of one zone, found when they are first needed."""

    def __init__(self, zone: ZoneInfo) -> None:
        self._zone = zone
        # A cache, owned here: what it holds follows from the zone alone.
        self._windows: dict[int, Stretches] = {}

    def around(self, second: int) -> Stretches:
        """The stretches that matter to a second, which may be UTC or wall time."""
        window = second // _WINDOW_S
        found = self._windows.get(window)
        if found is None:
            if len(self._windows) >= _MAX_WINDOWS:
                self._windows.clear()
            found = self.between(window * _WINDOW_S, (window + 1) * _WINDOW_S)
            self._windows[window] = found
        return found

    def between(self, first: int, last: int) -> Stretches:
        """The stretches that matter to any second from `first` to `last`."""
        return Stretches(
            tuple(self._cut(first - _MARGIN_S, last + _MARGIN_S)), first - DAY_S, last + DAY_S
        )

    def _cut(self, first: int, last: int) -> Iterator[Stretch]:
        start = EARLIEST_S - _WINDOW_S
        offset = offset_at(self._zone, min(max(first, EARLIEST_S) - 1, HORIZON_S))
        for instant, before, after in changes_between(self._zone, first, last):
            tail = max(start, instant + min(before, after))
            end = max(tail, instant + max(before, after))
            yield Stretch(start, tail, before, "")
            yield Stretch(tail, end, before, _note_of(before, after))
            start, offset = end, after
        yield Stretch(start, HORIZON_S + _WINDOW_S, offset, "")


def _note_of(before: int, after: int) -> Note:
    return "moved by a gap" if after > before else "first of a repeated hour"
