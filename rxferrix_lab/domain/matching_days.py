"""Which days of a month a cron expression matches.

A month has one of 28 shapes (four lengths, seven first weekdays), so the days are settled for every
month of every year when the expression is read. Weekdays are cron's: 0 is Sunday.
"""

from dataclasses import dataclass

_LENGTHS = (28, 29, 30, 31)
_LENGTHS_OF_MONTH = ((), (31,), (28, 29), *((31 - (m in (4, 6, 9, 11)),) for m in range(3, 13)))


@dataclass(frozen=True, slots=True)
class MonthDayChoice:
    """What the day field names."""

    days: tuple[int, ...]
    nearest_weekday: tuple[int, ...]  # 15W: Monday to Friday nearest to the 15th, in the same month
    last_day: bool  # L
    last_weekday: bool  # LW: the last Monday to Friday

    def days_of(self, length: int, first_weekday: int) -> set[int]:
        """The days it names in a month of that shape.

        >>> sorted(MonthDayChoice((31,), (1,), False, False).days_of(30, 6))
        [3]
        """
        found = {day for day in self.days if day <= length}
        found |= {
            _nearest_weekday(day, length, first_weekday)
            for day in self.nearest_weekday
            if day <= length
        }
        if self.last_day:
            found.add(length)
        if self.last_weekday:
            found.add(_nearest_weekday(length, length, first_weekday))
        return found


@dataclass(frozen=True, slots=True)
class WeekdayChoice:
    """What the weekday field names."""

    weekdays: tuple[int, ...]
    nth: tuple[tuple[int, int], ...]  # SUN#2: (0, 2)
    last: tuple[int, ...]  # L5: the last Friday

    def days_of(self, length: int, first_weekday: int) -> set[int]:
        """The days it names in a month of that shape.

        >>> sorted(WeekdayChoice((), ((0, 2),), (5,)).days_of(31, 0))
        [8, 27]
        """
        found = {
            day for day in range(1, length + 1) if (first_weekday + day - 1) % 7 in self.weekdays
        }
        for weekday, which in self.nth:
            day = 1 + (weekday - first_weekday) % 7 + 7 * (which - 1)
            found |= {day} if day <= length else set()
        for weekday in self.last:
            found.add(length - (first_weekday + length - 1 - weekday) % 7)
        return found


def _nearest_weekday(day: int, length: int, first_weekday: int) -> int:
    weekday = (first_weekday + day - 1) % 7
    if weekday == 6:
        return day - 1 if day > 1 else day + 2
    if weekday == 0:
        return day + 1 if day < length else day - 2
    return day


@dataclass(frozen=True, slots=True)
class DayRule:
    """Both day fields: where both are given a day matches if either does (contract 5.3)."""

    month_days: MonthDayChoice | None  # null for *
    weekdays: WeekdayChoice | None  # null for *

    def days_of(self, length: int, first_weekday: int) -> tuple[int, ...]:
        """The matching days, sorted, of a month of that length that begins on that weekday.

        >>> DayRule(None, None).days_of(28, 0) == tuple(range(1, 29))
        True
        """
        choices = [choice for choice in (self.month_days, self.weekdays) if choice is not None]
        if not choices:
            return tuple(range(1, length + 1))
        found: set[int] = set()
        for choice in choices:
            found |= choice.days_of(length, first_weekday)
        return tuple(sorted(found))

    def shapes(self) -> dict[int, tuple[int, ...]]:
        """The matching days of every shape, by 7 · length + first weekday."""
        return {
            7 * length + weekday: self.days_of(length, weekday)
            for length in _LENGTHS
            for weekday in range(7)
        }

    def can_match(self, months: tuple[int, ...]) -> bool:
        """Whether any of the months ever has a matching day: each shape occurs within 40 years."""
        return any(
            self.days_of(length, weekday)
            for month in months
            for length in _LENGTHS_OF_MONTH[month]
            for weekday in range(7)
        )
