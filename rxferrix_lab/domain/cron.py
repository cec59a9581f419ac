"""Crons: the instants that an expression names in a time zone.

Answers what is next, what was last, what lies between and how many; nothing is consumed by asking.
Never reads a clock and never decides what runs. Instants are computed in whole seconds of UTC,
because aware datetimes of one zone compare by their wall time.
"""

from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from rxferrix_lab.domain.clock_change_words import YearExplained
from rxferrix_lab.domain.cron_instants import CronInstants
from rxferrix_lab.domain.cron_syntax import CronFields, read_cron
from rxferrix_lab.domain.cron_words import pace_of, words_of
from rxferrix_lab.domain.epoch import at_second, second_of
from rxferrix_lab.domain.occurrence import Occurrence
from rxferrix_lab.domain.wall_line import WallLine
from rxferrix_lab.domain.wall_times import WallTimes
from rxferrix_lab.domain.zone import load_zone
from rxferrix_lab.errors import InstantError


@dataclass(frozen=True, slots=True)
class CronSchedule:
    """The occurrences of a six-field expression (`sec min hour day month weekday`) in a zone.

    A day field written `*` restricts nothing; any other text does, `*/n` included, and where both
    day fields are restricted a day matches if either does. A wall time that the clock skips runs
    later by the length of the gap; one that comes twice runs at its first passing; two that become
    one instant are one occurrence.

    Attributes:
        expr: the expression, with single spaces between its fields.
        zone: an IANA name.

    Raises:
        CronSyntaxError: if the expression cannot be read, or never matches.
        UnknownZoneError: if there is no such zone.

    >>> from datetime import UTC
    >>> digest = CronSchedule("0 30 3 * * *", "Europe/Bucharest")
    >>> digest.next(datetime(2026, 3, 28, 12, tzinfo=UTC)).isoformat()
    '2026-03-29T04:30:00+03:00'
    """

    expr: str
    zone: str = "UTC"
    tz: ZoneInfo = field(init=False, repr=False, compare=False)
    _fields: CronFields = field(init=False, repr=False, compare=False)
    _times: WallTimes = field(init=False, repr=False, compare=False)
    _instants: CronInstants = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Read the expression and the zone's name."""
        fields = read_cron(self.expr)
        settle = object.__setattr__  # the class is frozen for all others
        settle(self, "tz", load_zone(self.zone))
        settle(self, "expr", fields.text)
        settle(self, "_fields", fields)
        settle(self, "_times", WallTimes(fields))
        settle(self, "_instants", CronInstants(self._times, WallLine(self.tz)))

    def __reduce__(self) -> tuple[type["CronSchedule"], tuple[str, str]]:
        return CronSchedule, (self.expr, self.zone)

    def next(self, after: datetime) -> datetime:
        """The first occurrence strictly later than `after`, in the schedule's zone.

        Raises:
            InstantError: if `after` is naive, or nothing is left before the year 9999.
        """
        found = self._instants.first_after(second_of(after))
        if found is None:
            raise InstantError(f'"{self.expr}" names nothing between {after} and the year 9999')
        return at_second(found).astimezone(self.tz)

    def next_instant(self, after: datetime) -> datetime | None:
        """The first occurrence strictly later than `after`, in UTC; None if none before 9999.

        Raises:
            InstantError: if `after` is naive.
        """
        found = self._instants.first_after(second_of(after))
        return None if found is None else at_second(found)

    def previous_instant(self, at_or_before: datetime) -> datetime | None:
        """The latest occurrence at or before a moment, in UTC; None if none since the year 2.

        Raises:
            InstantError: if the moment is naive.
        """
        found = self._instants.last_until(second_of(at_or_before))
        return None if found is None else at_second(found)

    def occurrences(self, after: datetime, until: datetime) -> list[Occurrence]:
        """All occurrences later than `after`, up to and including `until`, in order.

        Raises:
            InstantError: if either is naive.

        >>> from datetime import UTC
        >>> hours = CronSchedule("0 0 3,4 * * *", "Europe/Bucharest")
        >>> [(o.wall.hour, o.instant.hour, o.note) for o in hours.occurrences(
        ...     datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 3, 30, tzinfo=UTC))]
        [(4, 1, 'merged'), (3, 0, '')]
        """
        return self._instants.listed(second_of(after), second_of(until))

    def count(self, after: datetime, until: datetime) -> int:
        """How many occurrences `occurrences` would list, counted and not listed.

        Raises:
            InstantError: if either moment is naive.

        >>> from datetime import UTC
        >>> CronSchedule("* * * * * *").count(
        ...     datetime(2026, 1, 1, tzinfo=UTC), datetime(2029, 1, 1, tzinfo=UTC))
        94694400
        """
        return self._instants.count(second_of(after), second_of(until))

    def words(self) -> str:
        """The schedule in plain words.

        >>> CronSchedule("0 0 9 * * MON-FRI", "Europe/Bucharest").words()
        'every weekday at 09:00 Europe/Bucharest'
        """
        return words_of(self._fields, self.zone)

    def explain(self, year: int) -> str:
        """What each clock change of a year does to the schedule, one line or more for each.

        >>> print(CronSchedule("0 30 2 * * *", "Europe/Berlin").explain(2026))
        on 29 March 2026 02:30 does not exist; it runs at 03:30 CEST
        on 25 October 2026 02:30 comes twice; it runs once, the first time, at 02:30 CEST
        """
        told = YearExplained(self._times, self.tz, pace_of(self._fields))
        return "\n".join(told.lines(year))
