"""What the clock changes of a year do to a cron, told in lines that a person reads.

Tells what `cron_instants` decides and decides nothing itself.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from rxferrix_lab.domain.cron_words import MONTHS, clock
from rxferrix_lab.domain.epoch import DAY_S, WALL_EPOCH, at_second, second_of
from rxferrix_lab.domain.wall_times import WallTimes
from rxferrix_lab.domain.zone import ClockChange, transitions
from rxferrix_lab.errors import InstantError

_FEW = 3  # up to this many times are told one by one


@dataclass(frozen=True, slots=True)
class YearExplained:
    """Tells a year of one cron: its wall times, its zone, and its times of day in words."""

    times: WallTimes
    zone: ZoneInfo
    pace: str

    def lines(self, year: object) -> list[str]:
        """One line or more for each clock change of the year, or one that says there is none.

        Raises:
            InstantError: for a year outside 3 to 9997.
        """
        if not isinstance(year, int) or not 3 <= year <= 9997:
            raise InstantError(f"the year {year!r:.60} is outside 3-9997")
        start, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + 1, 1, 1, tzinfo=UTC)
        day = timedelta(days=1)
        lines = [
            line
            for change in transitions(self.zone, start - day, end + day)
            if change.wall_start.year == year
            for line in (self._gap(change) if change.is_gap else self._fold(change))
        ]
        return lines or [
            f"the clock of {self.zone.key} is not changed in {year}; each time of day comes once"
        ]

    def _gap(self, change: ClockChange) -> list[str]:
        start, end = _wall_seconds(change)
        skipped = self.times.between(start, end - 1)
        merged = {wall for wall in skipped if self._is_named(wall + end - start)}
        if not skipped:
            return [self._untouched(change, "goes from", "is skipped")]
        if len(skipped) <= _FEW:
            return [self._moved_one(change, wall) for wall in skipped]
        late = f"{_duration(change.length)} later"
        first, last = skipped[0], skipped[-1]
        times = f"{len(skipped)} times from {_time(first)} to {_time(last)}"
        begin = f"on {_date(first)} {times} do not exist"
        if not merged:
            return [f"{begin}; each runs {late}"]
        if len(merged) == len(skipped):
            return [f"{begin}; each is one with the run that is due {late} anyway"]
        alone = f"{len(skipped) - len(merged)} run {late}"
        return [f"{begin}; {alone}, {len(merged)} are one with the run that is due then anyway"]

    def _moved_one(self, change: ClockChange, wall: int) -> str:
        moved = wall + int(change.length.total_seconds())
        day = "" if moved // DAY_S == wall // DAY_S else f" on {_date(moved)}"
        runs = "is one with the run" if self._is_named(moved) else "runs"
        return (
            f"on {_date(wall)} {_time(wall)} does not exist; it {runs} at {_time(moved)} "
            f"{self._name_after(change)}{day}"
        )

    def _fold(self, change: ClockChange) -> list[str]:
        start, end = _wall_seconds(change)
        repeated = self.times.between(start, end - 1)
        if not repeated:
            return [self._untouched(change, "goes back from", "comes twice")]
        name = self._name_before(change)
        lines = [
            f"on {_date(wall)} {_time(wall)} comes twice; it runs once, the first time, at "
            f"{_time(wall)} {name}"
            for wall in repeated
        ]
        if len(repeated) > _FEW:
            first, last = repeated[0], repeated[-1]
            times = f"{len(repeated)} times from {_time(first)} to {_time(last)}"
            lines = [
                f"on {_date(first)} {times} come twice; each runs once, the first time ({name})"
            ]
        return lines + self._silence(change, repeated[-1])

    def _silence(self, change: ClockChange, last: int) -> list[str]:
        """A line for the second passing, where the cron would otherwise not pause that long."""
        start, end = _wall_seconds(change)
        following = self.times.first_from(end)
        is_dense = following is not None and following - last <= end - start
        if not is_dense or not self.pace.startswith("every"):
            return []
        hours = f"from {_time(start)} to {_time(end)} {self._name_after(change)}"
        silent = f"silent for {_duration(change.length)} on {_date(start)}, {hours}"
        return [f"{silent}: {self.pace} means each time of day once"]

    def _untouched(self, change: ClockChange, goes: str, fate: str) -> str:
        start, end = _wall_seconds(change)
        before, after = (start, end) if change.is_gap else (end, start)
        return (
            f"on {_date(start)} the clock {goes} {_time(before)} {self._name_before(change)} to "
            f"{_time(after)} {self._name_after(change)}; nothing is due in the time that {fate}"
        )

    def _is_named(self, wall: int) -> bool:
        return self.times.count(wall, wall) == 1

    def _name_before(self, change: ClockChange) -> str:
        return self._name_at(second_of(change.instant) - 1)

    def _name_after(self, change: ClockChange) -> str:
        return self._name_at(second_of(change.instant))

    def _name_at(self, second: int) -> str:
        name = at_second(second).astimezone(self.zone).tzname() or ""
        return name if name[:1].isalpha() else f"UTC{name}"


def _wall_seconds(change: ClockChange) -> tuple[int, int]:
    second = timedelta(seconds=1)
    return (change.wall_start - WALL_EPOCH) // second, (change.wall_end - WALL_EPOCH) // second


def _time(wall: int) -> str:
    return clock(wall % DAY_S)


def _date(wall: int) -> str:
    moment = WALL_EPOCH + timedelta(0, wall)
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def _duration(length: timedelta) -> str:
    seconds = int(length.total_seconds())
    named = {1800: "half an hour", 3600: "an hour", DAY_S: "a day"}
    if seconds in named:
        return named[seconds]
    for unit, size in (("hours", 3600), ("minutes", 60)):
        if seconds % size == 0:
            return f"{seconds // size} {unit}"
    return f"{seconds} seconds"
