"""Times and delays as a caller gives them, checked before anything is written (contract 2.3)."""

import math
from datetime import UTC, datetime, timedelta

from rxferrix_lab.domain.epoch import EPOCH
from rxferrix_lab.errors import InstantError

EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
FURTHEST = timedelta(days=3653)  # ten years


def checked_timedelta(value: object, what: str) -> timedelta:
    """The value, if it is a timedelta of whatever length.

    Raises:
        InstantError: otherwise; `what` is what the duration is for.
    """
    if not isinstance(value, timedelta):
        raise InstantError(
            f"{what} takes a timedelta, not {value!r:.60}; write timedelta(seconds=…)"
        )
    return value


def checked_duration(value: object, what: str) -> timedelta:
    """The duration, if it is one from zero to ten years.

    Raises:
        InstantError: otherwise; `what` is what the duration is for.
    """
    if not isinstance(value, timedelta) or not timedelta(0) <= value <= FURTHEST:
        raise InstantError(
            f"{what} takes a timedelta from zero to ten years, not {value!r:.60}; "
            "write timedelta(seconds=…)"
        )
    return value


def instant_after(delay: object, now: datetime) -> datetime:
    """The instant `delay` from now.

    Raises:
        InstantError: unless `delay` is a timedelta from zero to ten years.
    """
    if not isinstance(delay, timedelta):
        raise InstantError(f"a delay is a timedelta, not {delay!r:.60}; write timedelta(seconds=…)")
    if delay < timedelta(0):
        raise InstantError(
            f"a delay is zero or more, not {delay}; to run at once give timedelta(0)"
        )
    if delay > FURTHEST:
        raise InstantError(
            f"a delay of {delay.days:,} days is more than ten years; were seconds given as days?"
        )
    return now + delay


def instant_at(when: object, now: datetime) -> datetime:
    """The instant that `when` names, in UTC: an aware datetime, or whole Unix milliseconds.

    Raises:
        InstantError: for a naive datetime, a time before 2000 or more than ten years after `now`,
            or anything else.
    """
    if isinstance(when, datetime):
        return _bounded(_aware(when), now, str(when))
    if isinstance(when, bool) or not isinstance(when, int):
        hint = " (not finite)" if isinstance(when, float) and not math.isfinite(when) else ""
        raise InstantError(
            "a time is an aware datetime or a whole number of Unix milliseconds, "
            f"not {when!r:.60}{hint}"
        )
    try:
        instant = EPOCH + timedelta(milliseconds=when)
    except OverflowError:
        raise InstantError(
            f"{_digits(when)} Unix milliseconds is outside the calendar; "
            "were microseconds given as milliseconds?"
        ) from None
    return _bounded(instant, now, f"{when} Unix milliseconds")


def _digits(when: int) -> str:
    return str(when) if abs(when) < 10**40 else "a number of more than 40 digits of"


def _aware(when: datetime) -> datetime:
    if when.utcoffset() is None:
        raise InstantError(
            f"{when} has no time zone, so it names no instant; give it one, such as "
            "datetime(…, tzinfo=UTC) or ZoneInfo('Europe/Bucharest')"
        )
    try:
        return when.astimezone(UTC)
    except OverflowError:
        raise InstantError(f"{when} is outside the calendar in UTC") from None


def _bounded(instant: datetime, now: datetime, given: str) -> datetime:
    if instant < EARLIEST:
        raise InstantError(
            f"{given} is {instant:%Y-%m-%d %H:%M} UTC, before the year 2000; "
            "were seconds given as milliseconds?"
        )
    if instant > now + FURTHEST:
        raise InstantError(
            f"{given} is {instant:%Y-%m-%d %H:%M} UTC, more than ten years away; "
            "were microseconds given as milliseconds?"
        )
    return instant
