"""The wall times that an expression names, walked in seconds since 1970 on the wall clock.

A wall time here is a number: 86,400 a day, every day. Which instant it is, and whether it exists,
is not known here.
"""

from bisect import bisect_left, bisect_right
from calendar import monthrange
from collections.abc import Iterator
from datetime import date

from rxferrix_lab.domain.cron_syntax import CronFields
from rxferrix_lab.domain.epoch import DAY_S, EARLIEST_S, HORIZON_S

_EPOCH_DAY = date(1970, 1, 1).toordinal()
_FIRST_DAY = EARLIEST_S // DAY_S
_LAST_DAY = HORIZON_S // DAY_S
_BLOCK_DAYS = 512
_MAX_BLOCKS = 512


class WallTimes:
    """The matching wall times, in both directions, counted and listed."""

    __slots__ = ("_blocks", "_minutes", "_months", "_seconds", "_shapes", "per_day")

    def __init__(self, fields: CronFields) -> None:
        self._seconds = fields.seconds
        # Seconds of the day at which each matching minute begins: at most 1,440 of them.
        self._minutes = tuple(
            hour * 3600 + minute * 60 for hour in fields.hours for minute in fields.minutes
        )
        self._months = fields.months
        self._shapes = fields.days.shapes()
        self.per_day = len(self._minutes) * len(self._seconds)
        # A cache, owned here: matching days by block. What it holds follows from the fields alone.
        self._blocks: dict[int, tuple[int, ...]] = {}

    def first_from(self, wall: int) -> int | None:
        """The first matching wall time at or after one; None past the year 9998."""
        day, second = divmod(wall, DAY_S)
        found = self._day_from(day)
        if found is None:
            return None
        if found == day:
            time = self._time_from(second)
            if time is not None:
                return day * DAY_S + time
            found = self._day_from(day + 1)
            if found is None:
                return None
        return found * DAY_S + self._minutes[0] + self._seconds[0]

    def last_until(self, wall: int) -> int | None:
        """The last matching wall time at or before one; None before the year 2."""
        day, second = divmod(wall, DAY_S)
        found = self._day_until(day)
        if found == day:
            time = self._time_until(second)
            if time is not None:
                return day * DAY_S + time
            found = self._day_until(day - 1)
        if found is None:
            return None
        return found * DAY_S + self._minutes[-1] + self._seconds[-1]

    def count(self, first: int, last: int) -> int:
        """How many match from `first` to `last`, both included, without walking them."""
        if last < first:
            return 0
        (first_day, first_second), (last_day, last_second) = (
            divmod(first, DAY_S),
            divmod(last + 1, DAY_S),
        )
        total = self._count_days(first_day, last_day - 1) * self.per_day
        if self._day_from(first_day) == first_day:
            total -= self.times_before(first_second)
        if self._day_from(last_day) == last_day:
            total += self.times_before(last_second)
        return total

    def days(self, first: int, last: int) -> Iterator[int]:
        """Matching days, in days since 1970, from `first` to `last`."""
        for block in range(first // _BLOCK_DAYS, last // _BLOCK_DAYS + 1):
            days = self._block(block)
            yield from days[bisect_left(days, first) : bisect_right(days, last)]

    def between(self, first: int, last: int) -> list[int]:
        """The matching wall times from `first` to `last`, both included."""
        (first_day, begin), (last_day, end) = divmod(first, DAY_S), divmod(last, DAY_S)
        return [
            day * DAY_S + time
            for day in self.days(first_day, last_day)
            for time in self.times_of_day(
                begin if day == first_day else 0, end if day == last_day else DAY_S
            )
        ]

    def times_of_day(self, begin: int = 0, end: int = DAY_S) -> list[int]:
        """Matching times of a day, in seconds since its midnight, from `begin` to `end`."""
        low = bisect_left(self._minutes, begin - begin % 60)
        high = bisect_right(self._minutes, end)
        times = [minute + second for minute in self._minutes[low:high] for second in self._seconds]
        return times[bisect_left(times, begin) : bisect_right(times, end)]

    def times_before(self, second: int) -> int:
        """How many matching times of a day lie before a second of it."""
        begin = second - second % 60
        index = bisect_left(self._minutes, begin)
        before = index * len(self._seconds)
        if index < len(self._minutes) and self._minutes[index] == begin:
            before += bisect_left(self._seconds, second - begin)
        return before

    def _time_from(self, second: int) -> int | None:
        begin = second - second % 60
        index = bisect_left(self._minutes, begin)
        if index == len(self._minutes):
            return None
        minute = self._minutes[index]
        if minute > begin:
            return minute + self._seconds[0]
        if second - begin <= self._seconds[-1]:
            return begin + self._seconds[bisect_left(self._seconds, second - begin)]
        index += 1
        return self._minutes[index] + self._seconds[0] if index < len(self._minutes) else None

    def _time_until(self, second: int) -> int | None:
        begin = second - second % 60
        index = bisect_right(self._minutes, begin) - 1
        if index < 0:
            return None
        minute = self._minutes[index]
        if minute < begin:
            return minute + self._seconds[-1]
        if second - begin >= self._seconds[0]:
            return begin + self._seconds[bisect_right(self._seconds, second - begin) - 1]
        return self._minutes[index - 1] + self._seconds[-1] if index else None

    def _day_from(self, day: int) -> int | None:
        block = max(day, _FIRST_DAY) // _BLOCK_DAYS
        while block * _BLOCK_DAYS <= _LAST_DAY:
            days = self._block(block)
            if days and days[-1] >= day:
                return days[bisect_left(days, day)]
            block += 1
        return None

    def _day_until(self, day: int) -> int | None:
        block = min(day, _LAST_DAY) // _BLOCK_DAYS
        while (block + 1) * _BLOCK_DAYS > _FIRST_DAY:
            days = self._block(block)
            if days and days[0] <= day:
                return days[bisect_right(days, day) - 1]
            block -= 1
        return None

    def _count_days(self, first: int, last: int) -> int:
        total = 0
        for block in range(first // _BLOCK_DAYS, last // _BLOCK_DAYS + 1):
            days = self._block(block)
            total += bisect_right(days, last) - bisect_left(days, first)
        return total

    def _block(self, block: int) -> tuple[int, ...]:
        days = self._blocks.get(block)
        if days is None:
            if len(self._blocks) >= _MAX_BLOCKS:
                self._blocks.clear()
            days = tuple(self._days_of_block(block))
            self._blocks[block] = days
        return days

    def _days_of_block(self, block: int) -> Iterator[int]:
        first = max(block * _BLOCK_DAYS, _FIRST_DAY)
        last = min((block + 1) * _BLOCK_DAYS - 1, _LAST_DAY)
        if last < first:
            return
        start, stop = (date.fromordinal(day + _EPOCH_DAY) for day in (first, last))
        for month_index in range(start.year * 12 + start.month - 1, stop.year * 12 + stop.month):
            year, month = month_index // 12, month_index % 12 + 1
            if month not in self._months:
                continue
            weekday, length = monthrange(year, month)
            before = date(year, month, 1).toordinal() - _EPOCH_DAY - 1
            for day in self._shapes[7 * length + (weekday + 1) % 7]:
                if first <= before + day <= last:
                    yield before + day
