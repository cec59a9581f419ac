"""`%load_ext rxferrix_lab`: an app in the namespace, running, in a file of its own."""

from pathlib import Path
from typing import Any

import pytest

from rxferrix_lab import RxFerrix

Shell = Any  # of the conftest beside this file


def test_app_is_put_into_the_namespace_and_runs(bare_shell: Shell, tmp_path: Path) -> None:
    said = bare_shell.run("%load_ext rxferrix_lab")

    assert bare_shell.app.is_running
    assert f"app: running, kept in {tmp_path / 'rxferrix.duckdb'}" in said


def test_file_is_named_after_the_notebook_that_jupyter_tells(
    bare_shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "sales 2026.ipynb"))

    bare_shell.run("%load_ext rxferrix_lab")

    assert (tmp_path / "sales 2026.duckdb").exists()


def test_app_that_is_there_already_is_started_and_not_overwritten(bare_shell: Shell) -> None:
    bare_shell.run("from rxferrix_lab import RxFerrix\nmine = app = RxFerrix('mine.duckdb')")

    bare_shell.run("%load_ext rxferrix_lab")

    assert bare_shell.app is bare_shell.ip.user_ns["mine"]
    assert bare_shell.app.is_running


def test_something_else_called_app_is_left_alone(bare_shell: Shell) -> None:
    bare_shell.run("app = 'a web app'")

    said = bare_shell.run("%load_ext rxferrix_lab")

    assert bare_shell.ip.user_ns["app"] == "a web app"
    assert isinstance(bare_shell.ip.user_ns["rx_app"], RxFerrix)
    assert "it is `rx_app`" in said


def test_loading_again_keeps_the_app_and_its_engine(shell: Shell) -> None:
    before = shell.app

    shell.run("%reload_ext rxferrix_lab")

    assert shell.app is before
    assert shell.app.is_running


def test_database_held_elsewhere_is_named_with_what_to_do(
    bare_shell: Shell, tmp_path: Path
) -> None:
    holder = RxFerrix(tmp_path / "rxferrix.duckdb").start()
    try:
        said = bare_shell.run("%load_ext rxferrix_lab")
    finally:
        holder.stop()

    assert "holds the database" in said
    assert "%rxferrix start other.duckdb" in said


def test_another_file_can_be_had_after_the_first_one_was_held(
    bare_shell: Shell, tmp_path: Path
) -> None:
    holder = RxFerrix(tmp_path / "rxferrix.duckdb").start()
    try:
        bare_shell.run("%load_ext rxferrix_lab")
        said = bare_shell.run("%rxferrix start other.duckdb")
    finally:
        holder.stop()

    assert f"app: running, kept in {tmp_path / 'other.duckdb'}" in said


def test_empty_app_makes_way_for_a_file_that_is_named(shell: Shell, tmp_path: Path) -> None:
    said = shell.run("%rxferrix start other.duckdb")

    assert f"kept in {tmp_path / 'other.duckdb'}" in said


def test_app_with_functions_does_not_make_way_for_another_file(shell: Shell) -> None:
    shell.run("%%mutation note\npass")

    said = shell.run("%rxferrix start other.duckdb")

    assert "stays there" in said
    assert shell.app.is_running


def test_cron_that_waits_for_its_cell_after_a_restart_is_named(shell: Shell) -> None:
    shell.run("%%mutation digest --cron '0 0 9 * * *'\npass")
    shell.run("%rxferrix stop\n")
    shell.run(
        "from rxferrix_lab import RxFerrix\napp = RxFerrix('rxferrix.duckdb', interactive=True)"
    )

    said = shell.run("%rxferrix start")

    assert "run their cells again, and these go on: digest" in said


def test_unloading_takes_the_magics_out_and_leaves_the_app(shell: Shell) -> None:
    shell.run("%unload_ext rxferrix_lab")

    assert "not found" in shell.run("%rxferrix status")
    assert shell.app.is_running
