from datetime import UTC, datetime

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.reactive.clock_pictures import changes_of_years
from rxferrix_lab.reactive.cron_outlook import Outlook, Refusal, lines_about, outlook

BUCHAREST = "Europe/Bucharest"
NOW = datetime(2026, 3, 27, tzinfo=UTC)


def readable(expr: str, zone: str = BUCHAREST, now: datetime = NOW) -> Outlook:
    found = outlook(expr, zone, now)
    assert isinstance(found, Outlook)
    return found


def refused(expr: str, zone: str = BUCHAREST) -> Refusal:
    found = outlook(expr, zone, NOW)
    assert isinstance(found, Refusal)
    return found


def test_next_runs_are_listed_with_what_a_clock_change_does_to_each() -> None:
    found = readable("0 30 3 * * *")

    assert found.words == "every day at 03:30 Europe/Bucharest"
    assert [(run.instant.isoformat(), run.note) for run in found.runs[1:4]] == [
        ("2026-03-28T01:30:00+00:00", ""),
        ("2026-03-29T01:30:00+00:00", "moved by a gap"),
        ("2026-03-30T00:30:00+00:00", ""),
    ]


def test_the_next_two_changes_are_explained_and_those_past_are_not() -> None:
    after_spring = datetime(2026, 4, 1, tzinfo=UTC)

    assert readable("0 30 3 * * *", now=after_spring).explained == (
        "on 25 October 2026 03:30 comes twice; it runs once, the first time, at 03:30 EEST",
        "on 28 March 2027 03:30 does not exist; it runs at 04:30 EEST",
    )


def test_zone_without_changes_says_so() -> None:
    assert readable("0 0 9 * * *", "Asia/Tokyo").explained == (
        "the clock of Asia/Tokyo is not changed in 2026; each time of day comes once",
    )


def test_wrong_field_is_named_with_its_position() -> None:
    assert refused("0 61 3 * * *") == Refusal(
        'minute 61 is outside 0-59 (field 2 of "0 61 3 * * *")', field=2
    )


def test_half_typed_expression_is_refused_as_a_whole() -> None:
    assert refused("0 30").field is None
    assert refused("").problem


def test_misspelt_zone_is_answered_with_those_close_to_it() -> None:
    assert BUCHAREST in refused("0 0 9 * * *", "Europe/Bucarest").close


def test_rare_expression_has_runs_years_apart() -> None:
    found = readable("0 0 0 29 2 *", "UTC")

    assert [run.instant.year for run in found.runs[:3]] == [2028, 2032, 2036]


def test_lines_about_a_change_leave_out_the_other_one() -> None:
    spring, autumn = changes_of_years(BUCHAREST, 2026, 1)
    schedule = CronSchedule("0 30 3 * * *", BUCHAREST)

    assert lines_about(schedule, spring) + lines_about(schedule, autumn) == tuple(
        schedule.explain(2026).splitlines()
    )
