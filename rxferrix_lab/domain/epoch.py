"""Instants as whole seconds, and the bounds within which schedules are computed.

Answers what second an aware datetime lies in, and back. Never reads a clock and knows no zone: a
naive datetime is refused here, so that nothing above has to ask.
"""

from datetime import UTC, datetime, timedelta

from rxferrix_lab.domain.given import checked_datetime
from rxferrix_lab.errors import InstantError

DAY_S = 86_400
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
WALL_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall time has no zone; that is its point

# datetime ends with the year 9999, and an offset must not carry a result past the end.
HORIZON = datetime(9999, 1, 1, tzinfo=UTC)
HORIZON_S = (HORIZON - EPOCH) // timedelta(seconds=1)
EARLIEST = datetime(2, 1, 1, tzinfo=UTC)
EARLIEST_S = (EARLIEST - EPOCH) // timedelta(seconds=1)


def since_epoch(moment: datetime) -> timedelta:
    """Time from 1970 to an aware moment, whatever its zone.

    Raises:
        InstantError: if the moment is naive.

    >>> since_epoch(datetime(1970, 1, 2, tzinfo=UTC))
    datetime.timedelta(days=1)
    """
    checked_datetime(moment, "a moment")
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InstantError(
            f"{moment!r} is naive: it names no instant; give it a zone, for example "
            "datetime(..., tzinfo=UTC)"
        )
    return moment - EPOCH


def second_of(moment: datetime) -> int:
    """The whole second since 1970 that an aware moment lies in.

    >>> second_of(datetime(1970, 1, 1, 0, 1, 0, 999_999, tzinfo=UTC))
    60
    """
    elapsed = since_epoch(moment)
    return elapsed.days * DAY_S + elapsed.seconds


def at_second(second: int) -> datetime:
    """The UTC datetime of a second since 1970.

    >>> at_second(60).isoformat()
    '1970-01-01T00:01:00+00:00'
    """
    return EPOCH + timedelta(0, second)
