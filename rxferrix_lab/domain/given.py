"""Values as callers give them, refused in words of our own where they are of another kind."""

from datetime import datetime

from rxferrix_lab.errors import InstantError


def checked_whole(value: object, what: str, least: int | None = None) -> int:
    """The number, if it is a whole one.

    Raises:
        ValueError: otherwise, or below `least`; `what` is what the number is for.
    """
    is_low = least is not None and isinstance(value, int) and value < least
    if is_low or isinstance(value, bool) or not isinstance(value, int):
        bound = f" of {least} or more" if least is not None else ""
        raise ValueError(f"{what} is a whole number{bound}, not {value!r:.60}")
    return value


def checked_text(value: object, what: str) -> str:
    """The text, if it is one.

    Raises:
        TypeError: otherwise; `what` is what the text is for.
    """
    if not isinstance(value, str):
        raise TypeError(f"{what} is text, not {value!r:.60}")
    return value


def checked_flag(value: object, what: str) -> bool:
    """The flag, if it is True or False.

    Raises:
        TypeError: otherwise; `what` is what the flag is for.
    """
    if not isinstance(value, bool):
        raise TypeError(f"{what} is True or False, not {value!r:.60}")
    return value


def checked_datetime(value: object, what: str) -> datetime:
    """The datetime, if it is one; whether it is aware is for others to ask.

    Raises:
        InstantError: otherwise; `what` is what the instant is for.
    """
    if not isinstance(value, datetime):
        raise InstantError(f"{what} is an aware datetime, not {value!r:.60}")
    return value
