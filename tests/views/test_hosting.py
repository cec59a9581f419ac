"""The app behind a server: found by name, and what went wrong kept for the page."""

from pathlib import Path

import pytest

from rxferrix_lab import RxFerrix
from rxferrix_lab.views.hosting import SAMPLE_APP, Hosted, target_in


@pytest.mark.parametrize(
    ("argv", "target"),
    [
        (["panel", "serve", "dashboard"], SAMPLE_APP),
        (["panel", "serve", "dashboard", "--port", "5007"], SAMPLE_APP),
        (["panel", "serve", "dashboard", "--args", "shop.jobs:app"], "shop.jobs:app"),
        (["main.py", "shop.jobs:app"], "shop.jobs:app"),
        (["main.py"], SAMPLE_APP),
    ],
)
def test_target_is_what_follows_args(argv: list[str], target: str) -> None:
    assert target_in(argv) == target


def test_module_that_is_not_there_is_an_import_failure() -> None:
    host = Hosted("no_such_shop:app")

    assert host.running() is None
    assert host.is_import_failure
    assert host.problem.endswith("No module named 'no_such_shop'")


def test_what_is_no_app_is_refused_by_name() -> None:
    host = Hosted("json:dumps")

    assert host.running() is None
    assert "json:dumps" in host.problem


def test_database_in_use_is_tried_again_each_time(tmp_path: Path) -> None:
    holder = RxFerrix(tmp_path / "a.duckdb", interactive=False).start()
    host = Hosted("a:app")
    app = RxFerrix(tmp_path / "a.duckdb", interactive=False)
    host.adopt(app)

    before, problem = host.running(), host.problem
    holder.stop()
    after = host.running()
    host.stop()

    assert (before, "a.duckdb" in problem, after) == (None, True, app)


def test_app_of_a_running_service_is_neither_started_nor_stopped() -> None:
    app = RxFerrix(interactive=False)
    host = Hosted("app", app)

    assert host.running() is None
    assert "not running" in host.problem
    app.start()
    host.stop()
    assert host.running() is app
    app.stop()
