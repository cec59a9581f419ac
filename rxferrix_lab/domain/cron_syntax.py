"""The text of a cron expression, checked and read into the values of its six fields.

Reads what a person means or refuses it with field, value and range; nothing is guessed, and input
is bounded before it is expanded. Says what an expression names, never when.
"""

from dataclasses import dataclass

from rxferrix_lab.domain.cron_field import DAY, FIELDS, Field, FieldText
from rxferrix_lab.domain.cron_values import expanded
from rxferrix_lab.domain.matching_days import DayRule
from rxferrix_lab.errors import CronSyntaxError

MAX_LENGTH = 600  # every value of every field, written out, takes 526
_ORDER = "second minute hour day month weekday"
_ALIASES = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}


@dataclass(frozen=True, slots=True)
class CronFields:
    """What an expression names: sorted values, and the rule of its days.

    `text` is the expression with single spaces between its fields.
    """

    text: str
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: tuple[int, ...]
    days: DayRule


def read_cron(expr: str) -> CronFields:
    """The six fields of an expression.

    Raises:
        CronSyntaxError: if it is not a cron of six fields, or can never match.

    >>> read_cron("0 */20 22-4/3 * * *").hours
    (1, 4, 22)
    >>> read_cron("0 0 25 * * *")
    Traceback (most recent call last):
    rxferrix_lab.errors.CronSyntaxError: hour 25 is outside 0-23 (field 3 of "0 0 25 * * *")
    """
    _check_text(expr)
    texts = _six_fields(expr)
    day, weekday = texts[3], texts[5]
    _check_day_pair(day, weekday)
    seconds, minutes, hours, days, months, weekdays = expanded([one.plain_text() for one in texts])
    rule = DayRule(day.day_choice(days), weekday.weekday_choice(weekdays))
    fields = CronFields(" ".join(expr.split()), seconds, minutes, hours, months, rule)
    if not fields.days.can_match(months):
        raise day.refusal("it never matches: none of its months has such a day")
    return fields


def _check_text(expr: object) -> None:
    if not isinstance(expr, str):
        raise CronSyntaxError(repr(expr), "an expression is text of six fields")
    if len(expr) > MAX_LENGTH:
        raise CronSyntaxError(
            expr, f"{len(expr)} characters are too many; at most {MAX_LENGTH} are read"
        )
    for position, character in enumerate(expr, 1):
        if not (character.isascii() and (character.isprintable() or character == "\t")):
            raise CronSyntaxError(
                ascii(expr)[1:-1],
                f"character {position} is {character!a}; plain ASCII is read",
            )


def _six_fields(expr: str) -> list[FieldText]:
    texts = expr.split()
    if len(texts) != len(FIELDS):
        raise CronSyntaxError(expr, _problem_of_count(texts))
    return [
        FieldText(expr, field, position, text)
        for position, (field, text) in enumerate(zip(FIELDS, texts, strict=True), 1)
    ]


def _problem_of_count(texts: list[str]) -> str:
    needed = f"six fields are needed ({_ORDER})"
    if texts and texts[0].startswith("@"):
        instead = _ALIASES.get(texts[0].lower())
        way_out = f'; write "{instead}"' if instead else ""
        return f"aliases are not read: {needed}{way_out}"
    if len(texts) == 5:
        return f'five fields where {needed}; put a 0 in front: "0 {" ".join(texts)}"'
    if len(texts) == 7:
        return f"seven fields where {needed}; a year is not read"
    return f"{len(texts)} fields where {needed}"


def _check_day_pair(day: FieldText, weekday: FieldText) -> None:
    """Refuse L, W and # beside another day field: they say "that day only", and either matches."""
    for special, other in ((day, weekday), (weekday, day)):
        if special.has_day_letters() and not other.is_star:
            raise special.refusal(
                f'"{special.shown}" needs a * in the {_name(other.field)} field: where both day '
                "fields are given, a day matches if either does"
            )


def _name(field: Field) -> str:
    return "day of month" if field is DAY else field.name
