"""croniter's reading of plain fields: numbers, rising ranges and steps, to sorted values.

It is given only what it reads as a person does; names, wrapped ranges and the letters of the day
fields are settled before. Knows nothing of zones or instants.
"""

from collections.abc import Sequence

from croniter import croniter  # type: ignore[import-untyped]  # it ships no types

from rxferrix_lab.domain.cron_field import FIELDS

Values = tuple[int, ...]


def expanded(texts: Sequence[str]) -> list[Values]:
    """The values of six fields in our order, second first; an empty text has none.

    >>> second, minute, hour, day, month, weekday = expanded(["0", "*/20", "9-17/4", "", "2", "*"])
    >>> minute, hour, day, weekday
    ((0, 20, 40), (9, 13, 17), (), (0, 1, 2, 3, 4, 5, 6))
    """
    read: Sequence[Sequence[int | str]] = croniter.expand(
        " ".join(text or "*" for text in texts), second_at_beginning=True
    )[0]
    # It answers with the seconds last, wherever they were written.
    in_our_order = [read[-1], *read[:-1]]
    return [
        _values(found, field.every) if text else ()
        for text, found, field in zip(texts, in_our_order, FIELDS, strict=True)
    ]


def _values(found: Sequence[int | str], every: Values) -> Values:
    """A star stands for the whole field, also where every value was written out."""
    if list(found) == ["*"]:
        return every
    return tuple(sorted(int(value) for value in found))
