"""`%rxferrix`: what each subcommand shows and does."""

from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter

Shell = Any  # of the conftest beside this file


@pytest.fixture
def shell_with_jobs(shell: Shell) -> Shell:
    shell.run("app.table('notes', 'text VARCHAR')")
    shell.run("%%mutation note(text: str) -> int\nreturn ctx.db.insert('notes', {'text': text})")
    shell.run("%%action fails()\nprint('about to')\nraise ValueError('no')")
    shell.run("%rxferrix run note('ann')")
    shell.run("await app.handle(1)")
    shell.run("%rxferrix run fails()")
    shell.run("await app.handle(2)")
    return shell


def test_help_lists_the_subcommands(shell: Shell) -> None:
    said = shell.run("%rxferrix --help")

    assert all(name in said for name in ("status", "run-now", "timeline", "lab"))
    assert shell.run("%rx") == said


def test_help_of_a_subcommand_says_what_it_takes(shell: Shell) -> None:
    assert "--limit" in shell.run("%rxferrix jobs --help")


def test_status_tells_file_functions_and_jobs(shell_with_jobs: Shell) -> None:
    said = shell_with_jobs.run("%rxferrix status")

    assert "rxferrix.duckdb" in said
    assert "fails, note" in said
    assert "1 succeeded, 1 failed" in said


def test_jobs_are_a_data_frame_and_can_be_filtered(shell_with_jobs: Shell) -> None:
    shell_with_jobs.run("failed = %rxferrix jobs failed")

    failed = shell_with_jobs.ip.user_ns["failed"]
    assert list(failed["function"]) == ["fails"]


def test_unknown_state_is_refused_with_the_known_ones(shell: Shell) -> None:
    assert "the states are pending, running" in shell.run("%rxferrix jobs done")


def test_job_shows_error_and_output(shell_with_jobs: Shell) -> None:
    said = shell_with_jobs.run("%rxferrix job 2")

    assert "error ValueError: no" in said
    assert "| about to" in said


def test_log_tells_what_ran(shell_with_jobs: Shell) -> None:
    said = shell_with_jobs.run("%rxferrix log")

    assert "succeeded" in said
    assert "failed" in said


def test_sql_takes_the_line_as_it_is_typed_and_names_of_the_notebook(
    shell_with_jobs: Shell,
) -> None:
    shell_with_jobs.run("who = 'ann'")

    said = shell_with_jobs.run(
        "%rxferrix sql SELECT count(*) AS found, 'it''s' AS quoted FROM notes WHERE text = $who"
    )

    assert "found quoted" in said
    assert "it's" in said


def test_sql_may_be_the_body_of_a_cell(shell_with_jobs: Shell) -> None:
    assert "ann" in shell_with_jobs.run("%%rxferrix sql\nSELECT text\nFROM notes")


def test_sql_that_names_an_unknown_variable_says_so(shell: Shell) -> None:
    assert "no such variable" in shell.run("%rxferrix sql SELECT $nobody")


def test_sql_that_writes_is_refused(shell_with_jobs: Shell) -> None:
    assert "UsageError" in shell_with_jobs.run("%rxferrix sql DELETE FROM notes")


def test_run_schedules_a_call_with_values_of_the_notebook(shell_with_jobs: Shell) -> None:
    shell_with_jobs.run("who = 'bob'")

    said = shell_with_jobs.run("%rxferrix run note(who + '!')")

    assert 'note(text="bob!"), job 3' in said


def test_run_after_a_delay_leaves_the_job_pending(shell_with_jobs: Shell) -> None:
    assert "(due in" in shell_with_jobs.run("%rxferrix run --after 1h note('later')")


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("nobody()", '"nobody" is not registered'),
        ("1 + 1", "write a call of a function"),
        ("note(", "not a call"),
        ("note()", "text"),
    ],
)
def test_call_that_cannot_be_scheduled_says_why(
    shell_with_jobs: Shell, line: str, told: str
) -> None:
    said = shell_with_jobs.run(f"%rxferrix run {line}")

    assert told in said
    assert "Traceback" not in said


def test_cancel_tells_whether_it_did(shell_with_jobs: Shell) -> None:
    shell_with_jobs.run("%rxferrix run --after 1h note('later')")

    assert "job 3 is canceled" in shell_with_jobs.run("%rxferrix cancel 3")
    assert "had ended already" in shell_with_jobs.run("%rxferrix cancel 3")
    assert "there is no job 99" in shell_with_jobs.run("%rxferrix cancel 99")


def test_crons_show_schedule_next_run_and_counts(shell: Shell) -> None:
    shell.run("%%mutation digest --cron '0 0 9 * * *' --zone Europe/Bucharest\npass")

    said = shell.run("%rxferrix crons")

    assert "every day at 09:00 Europe/Bucharest" in said
    assert "0 run, 0 skipped, 0 missed" in said


def test_run_now_runs_a_cron_and_shows_the_job(shell: Shell) -> None:
    shell.run("%%mutation digest --cron '0 0 9 * * *' --zone Europe/Bucharest\npass")

    assert "cron digest" in shell.run("%rxferrix run-now digest")
    assert 'there is no cron or interval "digets"' in shell.run("%rxferrix run-now digets")


def test_pools_show_their_slots(shell: Shell) -> None:
    shell.run("from rxferrix_lab import Workpool\napp.workpool(Workpool('emails', 2))")
    shell.run("%%action send --pool emails --now\npass")

    assert "of 2" in shell.run("%rxferrix pools")


def test_timeline_of_an_expression_lists_its_runs(shell: Shell) -> None:
    said = shell.run("%rxferrix timeline 0 0 9 * * * --zone Europe/Bucharest --days 2")

    assert "every day at 09:00 Europe/Bucharest, 2 in 2 days" in said


@pytest.mark.parametrize(
    "line", ["0 30 3 * * * Europe/Bucharest 2026", "'0 30 3 * * *' Europe/Bucharest 2026"]
)
def test_explain_tells_what_the_clock_changes_do(shell: Shell, line: str) -> None:
    said = shell.run(f"%rxferrix explain {line}")

    assert "on 29 March 2026 03:30 does not exist; it runs at 04:30 EEST" in said


def test_stop_and_start_keep_what_is_there(shell_with_jobs: Shell) -> None:
    stopped = shell_with_jobs.run("%rxferrix stop")
    refused = shell_with_jobs.run("%rxferrix jobs")
    shell_with_jobs.run("%rxferrix start")

    assert "is stopped; what is scheduled waits in it" in stopped
    assert "%rxferrix start starts it" in refused
    assert len(shell_with_jobs.app.jobs()) == 2


def test_lab_on_the_clock_of_the_machine_says_what_it_takes(shell: Shell) -> None:
    assert "clock=VirtualClock(start)" in shell.run("%rxferrix lab")


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("%rxferrix sta", {"start", "status"}),
        ("%rx run-now dig", {"digest"}),
        ("%rx timeline --zone Europe/Buch", {"Europe/Bucharest"}),
        ("%rx jobs fai", {"failed"}),
        ("%rx run dig", {"digest"}),
    ],
)
def test_tab_completes(shell: Shell, line: str, offered: set[str]) -> None:
    shell.run("%%mutation digest --cron '0 0 9 * * *'\npass")

    with provisionalcompleter():
        found = {completion.text for completion in shell.ip.Completer.completions(line, len(line))}

    assert offered <= found
