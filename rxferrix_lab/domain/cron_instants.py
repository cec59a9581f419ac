"""Where wall times meet UTC: the instants of an expression, found, counted and listed in seconds.

Walks the stretches of a zone's wall clock, each in plain seconds, and lets the earliest instant win
where a gap makes two of them overlap. An answer costs what it looks at, not what lies before.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from datetime import datetime, timedelta

from rxferrix_lab.domain.epoch import DAY_S, EARLIEST_S, EPOCH, HORIZON_S, WALL_EPOCH
from rxferrix_lab.domain.occurrence import Note, Occurrence
from rxferrix_lab.domain.wall_line import Stretch, WallLine
from rxferrix_lab.domain.wall_times import WallTimes


class CronInstants:
    """The instants, in seconds of UTC, of wall times on one zone's clock."""

    __slots__ = ("_line", "_times")

    def __init__(self, times: WallTimes, line: WallLine) -> None:
        self._times = times
        self._line = line

    def first_after(self, after: int) -> int | None:
        """The first instant later than a second; None if none before the year 9999."""
        after = max(after, EARLIEST_S - 1)
        line = self._line.around(min(after, HORIZON_S))
        index = bisect_right(line.ends, after)
        best: int | None = None
        while index < len(line.all) and (best is None or line.starts[index] <= best):
            stretch = line.all[index]
            wall = self._times.first_from(max(stretch.start, after + stretch.offset + 1))
            if wall is None:
                break
            if best is None and wall >= line.limit:
                # Nothing matches before this wall time, so what lies between need not be looked at.
                line = self._line.around(wall)
                index = line.index_of_wall(wall)
                best = wall - line.all[index].offset
            elif wall < stretch.end:
                instant = wall - stretch.offset
                best = instant if best is None else min(best, instant)
            index += 1
        return best if best is not None and best < HORIZON_S else None

    def last_until(self, until: int) -> int | None:
        """The last instant at or before a second; None if none since the year 2."""
        until = min(until, HORIZON_S - 1)
        line = self._line.around(max(until, EARLIEST_S))
        index = bisect_right(line.starts, until) - 1
        best: int | None = None
        while index >= 0 and (best is None or line.ends[index] > best):
            stretch = line.all[index]
            wall = self._times.last_until(min(stretch.end - 1, until + stretch.offset))
            if wall is None:
                break
            if best is None and wall < line.floor:
                line = self._line.around(wall)
                index = line.index_of_wall(wall)
                best = wall - line.all[index].offset
            elif wall >= stretch.start:
                instant = wall - stretch.offset
                best = instant if best is None else max(best, instant)
            index -= 1
        return best if best is not None and best >= EARLIEST_S else None

    def listed(self, after: int, until: int) -> list[Occurrence]:
        """The occurrences after < instant <= until, in order."""
        found: list[Occurrence] = []
        for stretch, first, last in self._pieces(after + 1, until):
            _append(found, self._occurrences(stretch, first, last))
        return found

    def count(self, after: int, until: int) -> int:
        """How many occurrences `listed` would give; only those inside a gap are walked."""
        pieces = list(self._pieces(after + 1, until))
        total = 0
        for index, (stretch, first, last) in enumerate(pieces):
            total += self._times.count(first, last)
            if stretch.note == "moved by a gap":
                total -= self._merging(stretch, first, last, pieces[index + 1 :])
        return total

    def _pieces(self, first: int, last: int) -> Iterator[tuple[Stretch, int, int]]:
        """Stretches that reach into the UTC seconds first..last, with the wall times that do."""
        first, last = max(first, EARLIEST_S), min(last, HORIZON_S - 1)
        if last < first:
            return
        for stretch in self._line.between(first, last).all:
            start = max(stretch.start, first + stretch.offset)
            end = min(stretch.end - 1, last + stretch.offset)
            if start <= end:
                yield stretch, start, end

    def _occurrences(self, stretch: Stretch, first: int, last: int) -> list[Occurrence]:
        found: list[Occurrence] = []
        (first_day, begin), (last_day, end) = divmod(first, DAY_S), divmod(last, DAY_S)
        whole: list[timedelta] = []
        for day in self._times.days(first_day, last_day):
            if first_day < day < last_day:
                times = whole = whole or self._times_within(0, DAY_S)
            else:
                times = self._times_within(
                    begin if day == first_day else 0, end if day == last_day else DAY_S
                )
            midnight, instant = WALL_EPOCH + timedelta(day), EPOCH + timedelta(day, -stretch.offset)
            notes: list[Note] = [stretch.note] * len(times)
            instants = [instant + time for time in times]
            found.extend(map(Occurrence, instants, [midnight + time for time in times], notes))
        return found

    def _times_within(self, begin: int, end: int) -> list[timedelta]:
        return [timedelta(0, second) for second in self._times.times_of_day(begin, end)]

    def _merging(
        self, gap: Stretch, first: int, last: int, later: list[tuple[Stretch, int, int]]
    ) -> int:
        """How many wall times of a gap become an instant that a later wall time becomes too."""
        instants = {wall - gap.offset for wall in self._times.between(first, last)}
        reach = last - gap.offset
        taken: set[int] = set()
        for stretch, start, end in later:
            shared = self._times.between(start, min(end, reach + stretch.offset))
            taken.update(wall - stretch.offset for wall in shared)
        return len(instants & taken)


def _append(found: list[Occurrence], more: list[Occurrence]) -> None:
    """Add occurrences that begin where the found ones end, or overlap them after a gap."""
    if found and more and more[0].instant <= found[-1].instant:
        overlap = bisect_left(found, more[0].instant, key=_instant_of)
        split = bisect_right(more, found[-1].instant, key=_instant_of)
        more[:split] = _merged(found[overlap:], more[:split])
        del found[overlap:]
    found += more


def _merged(moved: list[Occurrence], real: list[Occurrence]) -> list[Occurrence]:
    """Both lists in order; of two at one instant the real wall time, which says that it is both."""
    by_instant = {occurrence.instant: occurrence for occurrence in moved}
    for occurrence in real:
        if occurrence.instant in by_instant:
            occurrence = Occurrence(occurrence.instant, occurrence.wall, "merged")
        by_instant[occurrence.instant] = occurrence
    return sorted(by_instant.values(), key=_instant_of)


def _instant_of(occurrence: Occurrence) -> datetime:
    return occurrence.instant
