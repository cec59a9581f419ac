"""Zones by name, and the changes of their clocks (CONTRACT 5.2 and 5.4)."""

import copy
import pickle
import struct
from datetime import UTC, datetime, timedelta
from importlib import resources

import pytest

from rxferrix_lab.domain.zone import ClockChange, load_zone, transitions, zone_names
from rxferrix_lab.errors import UnknownZoneError


def table_of(name: str) -> list[tuple[int, int, int]]:
    """Changes of offset in a TZif file (RFC 9636), read with none of our code."""
    file = resources.files("tzdata").joinpath("zoneinfo", *name.split("/"))
    data = file.read_bytes()
    utc, std, leap, times, types, chars = struct.unpack(">6l", data[20:44])
    start = 44 + times * 5 + types * 6 + chars + leap * 8 + std + utc
    _, _, _, times, types, _ = struct.unpack(">6l", data[start + 20 : start + 44])
    start += 44
    instants = struct.unpack(f">{times}q", data[start : start + 8 * times])
    kinds = data[start + 8 * times : start + 9 * times]
    start += 9 * times
    offsets = [
        struct.unpack(">lbb", data[start + 6 * k : start + 6 * k + 6])[0] for k in range(types)
    ]
    found: list[tuple[int, int, int]] = []
    before = offsets[0]
    for instant, kind in zip(instants, kinds, strict=True):
        if offsets[kind] != before:
            found.append((instant, before, offsets[kind]))
        before = offsets[kind]
    return found


def year(name: str, number: int) -> list[ClockChange]:
    return transitions(
        load_zone(name), datetime(number, 1, 1, tzinfo=UTC), datetime(number + 1, 1, 1, tzinfo=UTC)
    )


def test_changes_of_every_zone_are_those_of_its_table() -> None:
    start = datetime(1970, 1, 1, tzinfo=UTC)
    for name in zone_names()[::3]:
        expected = [row for row in table_of(name) if row[0] >= start.timestamp()]
        if not expected:
            continue
        # A table ends where the zone's rule can go on alone.
        end = datetime.fromtimestamp(expected[-1][0] + 1, tz=UTC)

        found = transitions(load_zone(name), start, end)

        assert [
            (
                int(change.instant.timestamp()),
                int(change.offset_before.total_seconds()),
                int(change.offset_after.total_seconds()),
            )
            for change in found
        ] == expected, name


def test_changes_go_on_past_the_end_of_the_table() -> None:
    changes = year("Europe/Berlin", 2090)

    assert [change.instant.isoformat() for change in changes] == [
        "2090-03-26T01:00:00+00:00",
        "2090-10-29T01:00:00+00:00",
    ]


def test_gap_names_the_wall_times_that_it_skips() -> None:
    gap = year("Antarctica/Troll", 2026)[0]

    assert gap.is_gap
    assert gap.kind == "gap"
    assert gap.length == timedelta(hours=2)
    assert gap.wall_start.isoformat() == "2026-03-29T01:00:00"
    assert gap.wall_end.isoformat() == "2026-03-29T03:00:00"


def test_fold_names_the_wall_times_that_come_twice() -> None:
    fold = year("Australia/Lord_Howe", 2026)[0]

    assert fold.kind == "fold"
    assert fold.length == timedelta(minutes=30)
    assert fold.wall_start.isoformat() == "2026-04-05T01:30:00"
    assert fold.wall_end.isoformat() == "2026-04-05T02:00:00"


def test_day_that_samoa_skipped_is_a_gap_of_a_day() -> None:
    gap = year("Pacific/Apia", 2011)[-1]

    assert gap.length == timedelta(days=1)
    assert gap.wall_start.isoformat() == "2011-12-30T00:00:00"


def test_start_is_included_and_end_is_not() -> None:
    change = datetime(2026, 3, 29, 1, tzinfo=UTC)
    second = timedelta(seconds=1)
    zone = load_zone("Europe/Bucharest")

    assert len(transitions(zone, change, change + second)) == 1
    assert transitions(zone, change - second, change) == []


@pytest.mark.parametrize("number", [1, 2, 9998, 9999])
def test_years_at_the_ends_of_the_calendar_are_answered(number: int) -> None:
    zone = load_zone("Pacific/Kiritimati")
    start = datetime(number, 1, 1, tzinfo=UTC)

    assert transitions(zone, start, start + timedelta(days=364)) == []


def test_zone_without_changes_has_none() -> None:
    assert year("UTC", 2026) == []


def test_rules_come_from_the_tzdata_package() -> None:
    assert all(load_zone(name).key == name for name in zone_names())
    assert "PackagedZone" in repr(type(load_zone("America/Vancouver")))


def test_zone_survives_copies_and_pickles() -> None:
    zone = load_zone("Europe/Bucharest")
    moment = datetime(2026, 3, 29, 5, tzinfo=zone)

    assert copy.deepcopy(moment).tzinfo is zone
    assert pickle.loads(pickle.dumps(moment)) == moment


def test_names_are_sorted_and_hold_utc() -> None:
    assert zone_names() == sorted(zone_names())
    assert "UTC" in zone_names()


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "../x",
        "../../etc/passwd",
        "/etc/localtime",
        "Europe/../Europe/Berlin",
        "Europe",
        "Europe/",
        "/Europe/Berlin",
        "Europe\\Berlin",
        "localtime",
        "posix/Europe/Berlin",
        "right/UTC",
        "EST\0",
        "Europe/Berlin\n",
        "A" * 5000,
        "Zürich",
        "+02:00",
        "zone.tab",
        "Nowhere/Town",
    ],
)
def test_name_that_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(UnknownZoneError):
        load_zone(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("europe/bucharest", "Europe/Bucharest"),
        ("Europe/Bucarest", "Europe/Bucharest"),
        ("America/New York", "America/New_York"),
        ("utc", "UTC"),
    ],
)
def test_refused_name_comes_with_the_ones_close_to_it(name: str, meant: str) -> None:
    with pytest.raises(UnknownZoneError, match=meant) as refused:
        load_zone(name)

    assert meant in refused.value.close
