"""A cron in plain words, for a person who reads a list of them.

Says what the fields name, never when it is next.
"""

from collections.abc import Callable, Sequence

from rxferrix_lab.domain.cron_syntax import CronFields
from rxferrix_lab.domain.matching_days import MonthDayChoice, WeekdayChoice

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_WHICH = ("first", "second", "third", "fourth", "fifth")
_MOST_TIMES = 6  # more times of day than this are told by their pattern


def words_of(fields: CronFields, zone: str) -> str:
    """Days, times and zone; no zone where every hour of every day is the same."""
    days, pace = _days(fields), pace_of(fields)
    if pace.startswith("at "):
        return f"{days or 'every day'} {pace} {zone}"
    if days:
        return f"{pace}, {days}, {zone}"
    return pace if len(fields.hours) == 24 else f"{pace} {zone}"


def pace_of(fields: CronFields) -> str:
    """The times of day: `at 09:00`, `every 15 minutes`, `every 2 hours at minute 30`."""
    clock_times = len(fields.hours) * len(fields.minutes) * len(fields.seconds)
    if clock_times <= _MOST_TIMES and len(fields.hours) < 24:
        times = [
            clock(hour * 3600 + minute * 60 + second)
            for hour in fields.hours
            for minute in fields.minutes
            for second in fields.seconds
        ]
        return f"at {_listing(times)}"
    return _within_hours(fields)


def clock(second_of_day: int) -> str:
    """A time of day, with seconds where there are any.

    >>> clock(34_200), clock(34_205)
    ('09:30', '09:30:05')
    """
    hour, rest = divmod(second_of_day, 3600)
    minute, second = divmod(rest, 60)
    return f"{hour:02}:{minute:02}:{second:02}" if second else f"{hour:02}:{minute:02}"


def _within_hours(fields: CronFields) -> str:
    hours = fields.hours
    step = _step(hours, 24)
    finer = _within_the_hour(fields)
    if step == 1:
        return finer or "every hour"
    if step and len(fields.minutes) == 1:
        return f"every {step} hours{_at_minute(fields)}"
    if hours == tuple(range(hours[0], hours[-1] + 1)):
        last = hours[-1] * 3600 + fields.minutes[-1] * 60 + fields.seconds[-1]
        first = hours[0] * 3600 + fields.minutes[0] * 60 + fields.seconds[0]
        return f"{finer or 'every hour'} from {clock(first)} to {clock(last)}"
    return f"{finer or 'on the hour'} in {_plural('hour', hours)} {_runs(hours)}"


def _within_the_hour(fields: CronFields) -> str:
    """The times within an hour, or nothing for the full hour."""
    if fields.seconds != (0,):
        return _within_the_minute(fields)
    step = _step(fields.minutes, 60)
    if step == 1:
        return "every minute"
    if step and len(fields.minutes) > 1:
        return f"every {step} minutes"
    return "" if fields.minutes == (0,) else f"every hour{_at_minute(fields)}"


def _within_the_minute(fields: CronFields) -> str:
    step = _step(fields.seconds, 60)
    pace = (
        ("every second" if step == 1 else f"every {step} seconds")
        if step and len(fields.seconds) > 1
        else f"at {_plural('second', fields.seconds)} {_runs(fields.seconds)}"
    )
    if len(fields.minutes) == 60:
        return pace if pace.startswith("every") else f"every minute {pace}"
    minutes = f"{_plural('minute', fields.minutes)} {_runs(fields.minutes)}"
    return f"{pace} of {minutes}" if pace.startswith("every") else f"every hour {pace} of {minutes}"


def _at_minute(fields: CronFields) -> str:
    if fields.minutes == (0,) and fields.seconds == (0,):
        return ""
    at = f" at {_plural('minute', fields.minutes)} {_runs(fields.minutes)}"
    if fields.seconds == (0,):
        return at
    return f"{at} and {_plural('second', fields.seconds)} {_runs(fields.seconds)}"


def _days(fields: CronFields) -> str:
    """The days, or nothing for every day."""
    months = "" if len(fields.months) == 12 else _runs(fields.months, _month)
    day, weekday = fields.days.month_days, fields.days.weekdays
    parts = [
        *([_month_days(day, months or "the month")] if day else []),
        *(_weekday_parts(weekday, months) if weekday else []),
    ]
    if parts:
        return " and ".join(parts)
    return f"every day{_in(months)}" if months else ""


def _month_days(choice: MonthDayChoice, months: str) -> str:
    if len(choice.days) == 31:
        return f"every day of {months}"
    if stepped := _stepped_days(choice.days):
        return f"{stepped} of {months}"
    parts = [_runs(choice.days, _ordinal)] if choice.days else []
    parts += [f"weekday nearest to the {_ordinal(day)}" for day in choice.nearest_weekday]
    parts += ["last day"] if choice.last_day else []
    parts += ["last weekday"] if choice.last_weekday else []
    return f"on the {' and the '.join(parts)} of {months}"


def _stepped_days(days: tuple[int, ...]) -> str:
    """Many days at one distance, up to the end of the month; nothing where they are not so."""
    if len(days) <= _MOST_TIMES or days != tuple(range(days[0], 32, days[1] - days[0])):
        return ""
    step = days[1] - days[0]
    if step == 1:
        return f"every day from the {_ordinal(days[0])}"
    return f"every {_ordinal(step)} day from the {_ordinal(days[0])}"


def _in(months: str) -> str:
    if not months:
        return ""
    return f" from {months}" if " to " in months else f" in {months}"


def _weekday_parts(choice: WeekdayChoice, months: str) -> list[str]:
    parts: list[str] = []
    if choice.weekdays:
        parts.append(f"every {_weekday_set(choice.weekdays)}{_in(months)}")
    of = f"of {months or 'the month'}"
    parts += [f"on the {_WHICH[nth - 1]} {_WEEKDAYS[day]} {of}" for day, nth in choice.nth]
    parts += [f"on the last {_WEEKDAYS[day]} {of}" for day in choice.last]
    return parts


def _weekday_set(weekdays: tuple[int, ...]) -> str:
    if weekdays == (1, 2, 3, 4, 5):
        return "weekday"
    if len(weekdays) == 7:
        return "day"
    from_monday = sorted(weekdays, key=lambda day: (day - 1) % 7)
    return _listing([_WEEKDAYS[day] for day in from_monday])


def _step(values: tuple[int, ...], size: int) -> int | None:
    """The even step that leads from 0 through all values and back to 0; None if there is none."""
    step = size // len(values)
    return step if values == tuple(range(0, size, step)) and size % step == 0 else None


def _runs(values: Sequence[int], name: Callable[[int], str] = str) -> str:
    """Values as a list in which three or more in a row become `a to b`."""
    runs: list[list[int]] = []
    for value in values:
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    shown: list[str] = []
    for run in runs:
        shown += (
            [f"{name(run[0])} to {name(run[-1])}"] if len(run) > 2 else [name(each) for each in run]
        )
    return _listing(shown)


def _listing(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _plural(noun: str, values: Sequence[int]) -> str:
    return noun if len(values) == 1 else f"{noun}s"


def _month(number: int) -> str:
    return MONTHS[number - 1]


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
