from datetime import UTC, datetime

from rxferrix_lab.reactive.cron_outlook import Outlook, Refusal, outlook
from rxferrix_lab.views.cron_preview import outlook_html, refusal_html

NOW = datetime(2026, 3, 28, tzinfo=UTC)


def shown(expr: str, zone: str, mine: str) -> str:
    found = outlook(expr, zone, NOW)
    assert isinstance(found, Outlook)
    return outlook_html(found, mine)


def refused(expr: str) -> str:
    found = outlook(expr, "UTC", NOW)
    assert isinstance(found, Refusal)
    return refusal_html(found, expr)


def test_next_runs_stand_in_the_zone_of_the_cron_and_in_mine() -> None:
    html = shown("0 30 3 * * *", "Europe/Bucharest", "Asia/Tokyo")

    assert "2026-03-29 04:30:00 EEST (UTC+3)" in html
    assert "2026-03-29 10:30:00 JST (UTC+9)" in html


def test_one_column_is_enough_where_my_zone_is_that_of_the_cron() -> None:
    assert shown("0 30 3 * * *", "UTC", "UTC").count("In UTC") == 1


def test_run_that_is_moved_says_so_beside_its_time() -> None:
    html = shown("0 30 3 * * *", "Europe/Bucharest", "UTC")

    assert "◆ moved: the wall time does not exist that day" in html
    assert "on 29 March 2026 03:30 does not exist; it runs at 04:30 EEST" in html


def test_wrong_field_is_marked_and_named() -> None:
    html = refused("0 61 3 * * *")

    assert ">61</mark>" in html
    assert "(minute)" in html
    assert "minute 61 is outside 0-59" in html


def test_expression_that_is_markup_is_shown_as_text() -> None:
    html = refused("<img src=x onerror=alert(1)>")

    assert "<img" not in html
    assert "&lt;img" in html


def test_marked_field_that_is_markup_is_shown_as_text() -> None:
    html = refused("<b> 0 0 * * *")

    assert "<b>" not in html
    assert "&lt;b&gt;" in html
