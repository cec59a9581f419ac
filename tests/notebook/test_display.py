"""Values show themselves in a shell with the extension."""

from typing import Any

import pytest

Shell = Any  # of the conftest beside this file


def shown(shell: Shell, expression: str, kind: str = "text/plain") -> str:
    value = shell.ip.ev(expression)
    data, _ = shell.ip.display_formatter.format(value)
    return str(data[kind])


@pytest.fixture
def ready(shell: Shell) -> Shell:
    shell.run(
        "from datetime import UTC, datetime\n"
        "from rxferrix_lab import CronSchedule, JobError, Workpool\n"
        "nightly = CronSchedule('0 30 3 * * *', 'Europe/Bucharest')\n"
        "night = datetime(2026, 3, 29, tzinfo=UTC)"
    )
    return shell


def test_occurrences_show_instant_wall_time_and_what_a_change_did(ready: Shell) -> None:
    text = shown(ready, "nightly.occurrences(night, night + timedelta(days=1))")

    assert text == "[2026-03-29 01:30:00 UTC (names 03:30:00, moved by a gap)]"


def test_schedule_shows_its_words(ready: Shell) -> None:
    assert "every day at 03:30 Europe/Bucharest" in shown(ready, "nightly")
    assert "every day at 03:30 Europe/Bucharest" in shown(ready, "nightly", "text/html")


def test_pool_shows_its_size(ready: Shell) -> None:
    assert shown(ready, "Workpool('emails', 2)") == "workpool emails: 2 at once, 0 retries"


def test_error_shows_its_message_and_opens_to_its_traceback(ready: Shell) -> None:
    ready.run("error = JobError('error', 'ValueError', 'no <b>', 'Traceback …')")

    assert shown(ready, "error") == "ValueError: no <b>"
    assert "no &lt;b&gt;" in shown(ready, "error", "text/html")


def test_function_shows_its_kind_and_parameters(ready: Shell) -> None:
    ready.run("%%action send(to: str, times: int)\npass")

    assert shown(ready, "send") == "action send(to, times)"


def test_handle_shows_plain_text_in_a_console(ready: Shell) -> None:
    ready.run("%%action send(to: str)\npass")

    said = ready.run("%rxferrix run send('ann')")

    assert 'send(to="ann"), job 1' in said
