"""`%%query`, `%%mutation`, `%%action`: a cell becomes a function."""

from typing import Any

import pytest

Shell = Any  # of the conftest beside this file
SEND = "%%action send(to: str, times: int = 1) -> str\nreturn ' '.join([to] * times)"


def test_cell_becomes_a_function_under_its_name(shell: Shell) -> None:
    said = shell.run(SEND)

    assert "action send(to: str, times: int = 1) -> str" in said
    assert shell.value("app.call(send, 'ann', times=2)") == "ann ann"


def test_mutation_and_query_see_ctx_and_the_names_of_the_notebook(shell: Shell) -> None:
    shell.run("app.table('notes', 'text VARCHAR')\nprefix = 'dear '")
    shell.run(
        "%%mutation note(text: str) -> int\nreturn ctx.db.insert('notes', {'text': prefix + text})"
    )
    shell.run(
        "%%query texts() -> list[str]\nreturn [t for (t,) in ctx.db.sql('SELECT text FROM notes')]"
    )

    shell.run("app.call(note, 'ann')")

    assert shell.value("app.call(texts)") == ["dear ann"]


def test_body_that_awaits_becomes_an_async_action(shell: Shell) -> None:
    shell.run("%%action nap() -> str\nawait ctx.sleep(timedelta(0))\nreturn 'slept'")

    assert shell.value("app.call(nap)") == "slept"
    assert not shell.ip.user_ns["nap"].in_thread


def test_body_that_does_not_await_runs_in_a_thread(shell: Shell) -> None:
    shell.run(SEND)

    assert shell.ip.user_ns["send"].in_thread


def test_running_a_cell_again_replaces_the_function(shell: Shell) -> None:
    shell.run("%%action answer() -> int\nreturn 1")
    shell.run("%%action answer() -> int\nreturn 2")

    assert shell.value("app.call(answer)") == 2


def test_text_over_several_lines_keeps_its_indentation(shell: Shell) -> None:
    shell.run('%%action poem() -> str\nreturn """a\n  b"""')

    assert shell.value("app.call(poem)") == "a\n  b"


def test_error_in_a_cell_points_at_its_line(shell: Shell) -> None:
    shell.run("%%action fails()\nx = 1\nraise ValueError('no such report')")

    said = shell.run("app.call(fails)")

    assert "raise ValueError('no such report')" in said


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("%%action\npass", "the cell's first line names the function"),
        ("%%action send(to: str\npass", "its signature cannot be read"),
        ("%%query q()\nawait ctx", "a query cannot await"),
        ("%%mutation m()\nasync with ctx: pass", "a mutation cannot await"),
        ("%%action a() --pool nowhere\npass", 'no workpool "nowhere" is declared'),
        ("%%action a(to: str) --every 5s\npass", "give each parameter a default"),
        ("%%action a() --every often\npass", "is not a duration"),
        ("%%action a() --every 5s --cron '0 0 9 * * *'\npass", "give one of them"),
        ("%%action a() --cron '0 9 * * *'\npass", "field"),
        ("%%action a() --zone Europe/Bucharest\npass", "the zone of a --cron"),
        ("%%action a() --retries many\npass", "invalid int value"),
        ("%%action a() --every 5s --now\npass", "run-now"),
        ("%%query q() --every 5s\npass", "unrecognized arguments"),
        ("%%action a()\n\n", "no body"),
    ],
)
def test_cell_that_cannot_be_meant_says_what_is_wrong_in_a_line(
    shell: Shell, cell: str, told: str
) -> None:
    said = shell.run(cell)

    assert told in said
    assert "Traceback" not in said
    assert not shell.app.registry.functions


def test_now_runs_the_function_once_and_shows_the_job(shell: Shell) -> None:
    said = shell.run("%%action hello() --now\nprint('hello')")

    assert "hello(), job 1" in said


def test_now_makes_no_second_job_while_the_first_has_not_ended(shell: Shell) -> None:
    cell = "%%action long() --now\nctx.canceled()"
    shell.run(cell)

    said = shell.run(cell)

    assert "no second one was made" in said
    assert len(shell.app.jobs()) == 1
    shell.run("%rxferrix cancel 1")


def test_interval_runs_first_when_it_is_declared_and_shows_that_job(shell: Shell) -> None:
    said = shell.run("%%mutation beat --every 1h\npass")

    assert "every hour" in said
    assert "beat(), job 1, cron beat" in said


def test_interval_declared_again_runs_no_second_time(shell: Shell) -> None:
    for _ in range(3):
        shell.run("%%mutation beat --every 1h\npass")

    assert len(shell.app.jobs()) == 1
    assert len(shell.app.model().crons) == 1


def test_cron_of_a_zone_says_when_it_runs_next(shell: Shell) -> None:
    said = shell.run("%%mutation digest --cron '0 0 9 * * *' --zone Europe/Bucharest\npass")

    assert "every day at 09:00 Europe/Bucharest, next run" in said
    assert "09:00:00 EE" in said


def test_cell_run_again_without_its_schedule_removes_it(shell: Shell) -> None:
    shell.run("%%mutation beat --every 1h\npass")

    said = shell.run("%%mutation beat\npass")

    assert "its schedule was removed" in said
    assert shell.app.model().crons == ()


def test_pool_and_retries_of_a_cell_are_those_of_its_jobs(shell: Shell) -> None:
    shell.run("from rxferrix_lab import Workpool\napp.workpool(Workpool('emails', 2))")
    shell.run("%%action send(to: str) --pool emails --retries 3\npass")

    shell.run("%rxferrix run send('ann')")

    job = shell.app.job(1)
    assert (job.pool, job.max_attempts) == ("emails", 4)


def test_scheduled_cell_with_a_pool_enqueues_into_it(shell: Shell) -> None:
    shell.run("from rxferrix_lab import Workpool\napp.workpool(Workpool('emails', 2))")

    shell.run("%%action send --pool emails --every 1h\npass")

    shell.run("await app.handle(1)")
    jobs = shell.app.jobs(pool="emails")
    assert list(jobs["function"]) == ["send"]
