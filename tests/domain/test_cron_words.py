"""Crons told to a person: in a few words, and through the clock changes of a year."""

import pytest

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.errors import InstantError


@pytest.mark.parametrize(
    ("expr", "words"),
    [
        ("0 0 9 * * MON-FRI", "every weekday at 09:00 Europe/Bucharest"),
        ("0 0 9,17 * * *", "every day at 09:00 and 17:00 Europe/Bucharest"),
        ("5 30 9 * * *", "every day at 09:30:05 Europe/Bucharest"),
        ("* * * * * *", "every second"),
        ("*/30 * * * * *", "every 30 seconds"),
        ("0 * * * * *", "every minute"),
        ("0 */5 * * * *", "every 5 minutes"),
        ("0 5,7 * * * *", "every hour at minutes 5 and 7"),
        ("0 0 * * * *", "every hour"),
        ("0 15 * * * *", "every hour at minute 15"),
        ("15 * * * * *", "every minute at second 15"),
        ("0 30 */2 * * *", "every 2 hours at minute 30 Europe/Bucharest"),
        (
            "0 */15 9-17 * * MON-FRI",
            "every 15 minutes from 09:00 to 17:45, every weekday, Europe/Bucharest",
        ),
        ("0 * 1,5 * * *", "every minute in hours 1 and 5 Europe/Bucharest"),
        ("0 0 6 1,15 * *", "on the 1st and 15th of the month at 06:00 Europe/Bucharest"),
        ("0 0 6 2-4,22 7 *", "on the 2nd to 4th and 22nd of July at 06:00 Europe/Bucharest"),
        ("0 0 6 L * *", "on the last day of the month at 06:00 Europe/Bucharest"),
        ("0 0 6 LW * *", "on the last weekday of the month at 06:00 Europe/Bucharest"),
        (
            "0 0 6 15W * *",
            "on the weekday nearest to the 15th of the month at 06:00 Europe/Bucharest",
        ),
        ("0 0 6 */2 * *", "every 2nd day from the 1st of the month at 06:00 Europe/Bucharest"),
        ("0 0 9 * 3-5 *", "every day from March to May at 09:00 Europe/Bucharest"),
        ("0 0 9 * 3 6,0", "every Saturday and Sunday in March at 09:00 Europe/Bucharest"),
        ("0 15 2 * MAR SUN#2", "on the second Sunday of March at 02:15 Europe/Bucharest"),
        ("0 30 2 * * L5", "on the last Friday of the month at 02:30 Europe/Bucharest"),
        ("0 0 6 13 * FRI", "on the 13th of the month and every Friday at 06:00 Europe/Bucharest"),
    ],
)
def test_words_say_when(expr: str, words: str) -> None:
    assert CronSchedule(expr, "Europe/Bucharest").words() == words


def explain(expr: str, zone: str, year: int) -> list[str]:
    return CronSchedule(expr, zone).explain(year).splitlines()


def test_moved_run_and_repeated_run_are_told() -> None:
    assert explain("0 30 3 * * *", "Europe/Bucharest", 2026) == [
        "on 29 March 2026 03:30 does not exist; it runs at 04:30 EEST",
        "on 25 October 2026 03:30 comes twice; it runs once, the first time, at 03:30 EEST",
    ]


def test_silent_hour_of_a_frequent_cron_is_told() -> None:
    gap, fold, silence = explain("0 */15 * * * *", "Europe/Bucharest", 2026)

    assert gap == (
        "on 29 March 2026 4 times from 03:00 to 03:45 do not exist; "
        "each is one with the run that is due an hour later anyway"
    )
    assert fold == (
        "on 25 October 2026 4 times from 03:00 to 03:45 come twice; "
        "each runs once, the first time (EEST)"
    )
    assert silence == (
        "silent for an hour on 25 October 2026, from 03:00 to 04:00 EET: "
        "every 15 minutes means each time of day once"
    )


def test_merged_run_is_told() -> None:
    lines = explain("0 30 3,4 * * *", "Europe/Bucharest", 2026)

    assert lines[0] == "on 29 March 2026 03:30 does not exist; it is one with the run at 04:30 EEST"


def test_many_moved_runs_are_told_together() -> None:
    lines = explain("0 0-50/10 3 * * *", "Europe/Bucharest", 2026)

    assert lines[0] == (
        "on 29 March 2026 6 times from 03:00 to 03:50 do not exist; each runs an hour later"
    )


def test_some_moved_and_some_merged_runs_are_told_apart() -> None:
    lines = explain("0 */5 2 * * *", "Antarctica/Troll", 2026)
    halves = explain("0 */10 2-2 * * *", "Australia/Lord_Howe", 2026)

    assert lines[0].endswith("12 times from 02:00 to 02:55 do not exist; each runs 2 hours later")
    assert halves[-1] == (
        "on 4 October 2026 02:20 does not exist; it is one with the run at 02:50 UTC+11"
    )


def test_change_that_touches_nothing_is_told() -> None:
    spring, autumn = explain("0 0 9 * * *", "Europe/Paris", 2026)

    assert spring == (
        "on 29 March 2026 the clock goes from 02:00 CET to 03:00 CEST; "
        "nothing is due in the time that is skipped"
    )
    assert autumn == (
        "on 25 October 2026 the clock goes back from 03:00 CEST to 02:00 CET; "
        "nothing is due in the time that comes twice"
    )


def test_skipped_day_is_told_with_both_dates() -> None:
    assert explain("0 0 18 * * *", "Pacific/Apia", 2011)[-1] == (
        "on 30 December 2011 18:00 does not exist; it is one with the run at 18:00 UTC+14 on "
        "31 December 2011"
    )


def test_half_an_hour_is_named() -> None:
    lines = explain("0 */5 * * * *", "Australia/Lord_Howe", 2026)

    assert lines[1].startswith(
        "silent for half an hour on 5 April 2026, from 01:30 to 02:00 UTC+1030"
    )
    assert lines[2].endswith("each is one with the run that is due half an hour later anyway")


def test_zone_that_changes_nothing_is_told() -> None:
    assert explain("0 0 9 * * *", "UTC", 2026) == [
        "the clock of UTC is not changed in 2026; each time of day comes once"
    ]


@pytest.mark.parametrize("year", [-1, 0, 2, 9998, 10_000])
def test_year_outside_the_calendar_is_refused(year: int) -> None:
    with pytest.raises(InstantError, match="outside 3-9997"):
        CronSchedule("0 0 9 * * *").explain(year)
