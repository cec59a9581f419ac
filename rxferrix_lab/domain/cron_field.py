"""One field of a cron expression: its range, its names, and the values that its text stands for.

Checks items (`*`, `7`, `MON-FRI`, `10/20`, `22-4/3`) and writes them as croniter reads them right;
reads the letters of the day fields (`L`, `15W`, `LW`, `SUN#2`, `L5`) itself. Knows nothing of the
other fields.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rxferrix_lab.domain.matching_days import MonthDayChoice, WeekdayChoice
from rxferrix_lab.errors import CronSyntaxError

_MAX_ITEMS = 60
_VALUE = r"[0-9]+|[A-Z]{3}"
_ITEM = re.compile(rf"(?:(\*)|({_VALUE})(?:-({_VALUE}))?)(?:/([0-9]+))?")
_NEAREST_WEEKDAY = re.compile(r"([0-9]+)W")
_NTH = re.compile(rf"({_VALUE})#([0-9]+)")
_LAST = re.compile(rf"L({_VALUE})|({_VALUE})L")
_DAY_LETTERS = re.compile(r"#|^(?:L.*|.*[0-9]W|.*[0-9]L|[A-Z]{3}L|LW)$")


def _numbered(names: str, first: int) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(names.split(), first)}


@dataclass(frozen=True, slots=True)
class Field:
    """One of the six fields; `limit` is the largest number read, which for weekday is 7."""

    name: str
    low: int
    high: int
    limit: int
    names: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def size(self) -> int:
        """How many different values there are."""
        return self.high - self.low + 1

    @property
    def every(self) -> tuple[int, ...]:
        """All values there are."""
        return tuple(range(self.low, self.high + 1))


SECOND = Field("second", 0, 59, 59)
MINUTE = Field("minute", 0, 59, 59)
HOUR = Field("hour", 0, 23, 23)
DAY = Field("day", 1, 31, 31)
MONTH = Field("month", 1, 12, 12, _numbered("JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC", 1))
WEEKDAY = Field("weekday", 0, 6, 7, _numbered("SUN MON TUE WED THU FRI SAT", 0))
FIELDS = (SECOND, MINUTE, HOUR, DAY, MONTH, WEEKDAY)


@dataclass(frozen=True, slots=True)
class FieldText:
    """The text of one field, and where it stands, so that a refusal can say so."""

    expr: str
    field: Field
    at: int  # from 1
    text: str

    @property
    def is_star(self) -> bool:
        """Whether the field restricts nothing. `*/1` does: it is written as a choice."""
        return self.text == "*"

    @property
    def shown(self) -> str:
        """The text, cut to a readable length."""
        return _cut(self.text)

    def refusal(self, problem: str) -> CronSyntaxError:
        """The error that names this field."""
        return CronSyntaxError(self.expr, problem, self.field.name, self.at)

    def plain_text(self) -> str:
        """Its plain items, checked, as numbers and rising ranges; empty where it has letters only.

        croniter reads a-a as the whole field, and wrapped ranges, 7/2 and long steps in a way of
        its own, so that none of these reaches it.

        >>> FieldText("", HOUR, 3, "22-1,12,9-17/4,*/6").plain_text()
        '22,23,0,1,12,9-17/4,0-23/6'
        """
        plain = (item for item in self._items() if not self._is_letter(item))
        return ",".join(self._rewritten(item) for item in plain)

    def has_day_letters(self) -> bool:
        """Whether an item is one of L, W and #, as opposed to plain values."""
        return any(_DAY_LETTERS.search(item) for item in self.text.upper().split(","))

    def day_choice(self, plain: tuple[int, ...]) -> MonthDayChoice | None:
        """The days of the month it stands for, its plain values among them; None for `*`."""
        if self.is_star:
            return None
        letters = [item for item in self._items() if self._is_letter(item)]
        near = [match for item in letters if (match := _NEAREST_WEEKDAY.fullmatch(item))]
        return MonthDayChoice(
            plain,
            _sorted(self._number(match[1]) for match in near),
            "L" in letters,
            "LW" in letters,
        )

    def weekday_choice(self, plain: tuple[int, ...]) -> WeekdayChoice | None:
        """The weekdays it stands for, 0 for Sunday, its plain values among them; None for `*`."""
        if self.is_star:
            return None
        nth: set[tuple[int, int]] = set()
        last: list[int] = []
        for item in self._items():
            if numbered := _NTH.fullmatch(item):
                nth.add((self._number(numbered[1]) % 7, self._which(numbered[2])))
            elif final := _LAST.fullmatch(item):
                last.append(self._number(final[1] or final[2]) % 7)
        return WeekdayChoice(plain, tuple(sorted(nth)), _sorted(last))

    def _is_letter(self, item: str) -> bool:
        """Whether an item is one of the letters that this field has."""
        if self.field is DAY:
            return item in ("L", "LW") or _NEAREST_WEEKDAY.fullmatch(item) is not None
        if self.field is WEEKDAY:
            return _NTH.fullmatch(item) is not None or _LAST.fullmatch(item) is not None
        return False

    def _items(self) -> list[str]:
        items = self.text.upper().split(",")
        if len(items) > _MAX_ITEMS:
            raise self.refusal(
                f"{len(items)} items in the {self.field.name} field are too many; at most "
                f"{_MAX_ITEMS} are read"
            )
        return items

    def _rewritten(self, item: str) -> str:
        match = _ITEM.fullmatch(item)
        if match is None:
            raise self.refusal(_problem_of_item(item, self.field))
        star, first, last, step = match.groups()
        if star and not step and not self.is_star:
            raise self.refusal('"*" in a list already stands for every value; leave the others out')
        stride = self._stride(step)
        if star:
            return _rising(self.field.low, self.field.high, stride) if step else "*"
        start = self._number(first)
        if last:
            return self._range(start, self._number(last), stride)
        start = self._wrapped(start)
        return _rising(start, self.field.high if step else start, stride)

    def _range(self, start: int, stop: int, stride: int) -> str:
        """A range, which runs on past the field's end where it is written so (22-4, FRI-MON)."""
        if stop < start:
            if self.field is DAY and stride > 1:
                raise self.refusal(
                    f"day {start}-{stop}/{stride} steps over the end of the month, whose length "
                    "differs; list the days instead"
                )
            stop += self.field.size
        if stop <= self.field.high:
            return _rising(start, stop, stride)
        return ",".join(str(self._wrapped(value)) for value in range(start, stop + 1, stride))

    def _wrapped(self, value: int) -> int:
        return (value - self.field.low) % self.field.size + self.field.low

    def _stride(self, text: str | None) -> int:
        if text is None:
            return 1
        longest = self.field.size - 1
        stride = _bounded(text)
        if not 1 <= stride <= longest:
            raise self.refusal(f"step {_cut(text)} of the {self.field.name} is outside 1-{longest}")
        return stride

    def _number(self, text: str) -> int:
        """The number of a value, written as digits or as a name; 7 stays 7."""
        if text.isalpha():
            if text not in self.field.names:
                raise self.refusal(_problem_of_name(text, self.field))
            return self.field.names[text]
        value = _bounded(text)
        if not self.field.low <= value <= self.field.limit:
            raise self.refusal(
                f"{self.field.name} {_cut(text)} is outside {self.field.low}-{self.field.limit}"
            )
        return value

    def _which(self, text: str) -> int:
        which = _bounded(text)
        if not 1 <= which <= 5:
            raise self.refusal(f"weekday number #{_cut(text)} is outside #1-#5")
        return which


def _rising(start: int, stop: int, stride: int) -> str:
    """A range that ends above its start, as croniter reads it; else the one value."""
    if start + stride > stop:
        return str(start)
    return f"{start}-{stop}" if stride == 1 else f"{start}-{stop}/{stride}"


def _sorted(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(sorted(set(values)))


def _bounded(digits: str) -> int:
    return int(digits[:9]) if len(digits.lstrip("0")) > 9 else int(digits)


def _cut(text: str) -> str:
    return text if len(text) <= 20 else text[:17] + "..."


def _problem_of_name(text: str, field: Field) -> str:
    if not field.names:
        return f"{text} is not a number; the {field.name} field takes {field.low}-{field.limit}"
    return f"{text} is not a {field.name}; the names are {', '.join(field.names)}"


def _problem_of_item(item: str, field: Field) -> str:
    if not item:
        return (
            f"an item of the {field.name} field is empty; write values with one comma between them"
        )
    if item == "?":
        return f'"?" is not read in the {field.name} field; write "*"'
    if item[0] in "RH":
        return (
            f'"{_cut(item)}": random (R) and hashed (H) values are not read; write a {field.name}'
        )
    if item == "L" and field is WEEKDAY:
        return '"L" alone names no weekday; write "L5" for the last Friday, or "SAT"'
    return (
        f'"{_cut(item)}" is not a {field.name}; write a value from {field.low}-{field.limit}, '
        "a range a-b, a step */n, or a list of these"
    )
