from datetime import UTC, datetime, timedelta
from typing import Any

import panel as pn
import pytest

from rxferrix_lab import Identity, MutationCtx, RxFerrix, TestApp
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.views import crons
from rxferrix_lab.views.cron_list import CronList
from tests.views.parts import parts, texts

START = datetime(2026, 3, 28, 12, tzinfo=UTC)


@pytest.fixture
def app() -> RxFerrix:
    app = RxFerrix()

    @app.mutation
    def tick(ctx: MutationCtx) -> None:
        return None

    app.cron_tz("backup", "0 30 3 * * *", "Europe/Bucharest", tick)
    app.interval("beat", timedelta(hours=1), tick)
    return app


def the_list(page: pn.viewable.Viewable) -> CronList:
    [found] = parts(page, CronList)
    return found


def row(page: pn.viewable.Viewable, name: str) -> dict[str, Any]:
    return next(each for each in the_list(page).rows if each["name"] == name)


async def test_cron_is_shown_in_words_and_literally_with_its_next_run_in_both_zones(
    app: RxFerrix,
) -> None:
    async with TestApp(app, start=START) as t:
        page = crons.view(LiveModel.of(t.runtime), Controls(zone="UTC"))

        shown = row(page, "backup")
        assert shown["words"] == "every day at 03:30 Europe/Bucharest"
        assert shown["literal"].startswith("0 30 3 * * * · Europe/Bucharest → ")
        assert [text for text, _ in shown["next"]] == [
            *("Sun 29 Mar 04:30:00", "Europe/Bucharest", "Sun 29 Mar 01:30:00", "UTC"),
        ]


async def test_run_appears_in_the_strip_and_in_the_counters(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        model = LiveModel.of(t.runtime)
        page = crons.view(model)
        await t.advance_time(timedelta(hours=2))
        model.refresh()

        shown = row(page, "beat")
        assert [shape for shape, _ in shown["cells"]] == ["succeeded"] * 3
        assert shown["counts"][0] == ["runs", "3"]


async def test_missed_runs_are_crossed_in_the_strip(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        await t.restart(down_for=timedelta(hours=5))
        await t.run_due_jobs()
        page = crons.view(LiveModel.of(t.runtime))

        shown = row(page, "beat")
        assert [shape for shape, _ in shown["cells"]][-2:] == ["missed", "succeeded"]
        assert int(shown["counts"][2][1]) > 0


async def test_paused_cron_is_marked_and_offers_to_resume(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        t.pause_cron("backup")
        page = crons.view(LiveModel.of(t.runtime))

        shown = row(page, "backup")
        assert [mark["text"] for mark in shown["marks"]] == ["paused"]
        assert [name for name, _, _ in shown["actions"]] == ["run", "try", "resume", "remove"]
        assert shown["next"] == [["no next run", "rx-quiet"]]


async def test_viewer_is_offered_nothing_that_changes(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        page = crons.view(LiveModel.of(t.runtime, Identity("ann")))

        assert [name for name, _, _ in row(page, "backup")["actions"]] == ["try"]
        assert row(page, "beat")["actions"] == []


async def test_refresh_that_changes_nothing_sends_nothing(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        await t.run_due_jobs()
        model = LiveModel.of(t.runtime)
        page = crons.view(model)
        sent: list[object] = []
        the_list(page).param.watch(sent.append, ["rows"])

        await t.advance_time(timedelta(minutes=1))
        model.refresh()

        assert sent == []


async def test_app_without_crons_says_how_to_declare_one() -> None:
    async with TestApp(RxFerrix(), start=START) as t:
        page = crons.view(LiveModel.of(t.runtime))

        assert "No crons are declared" in texts(page)


async def test_name_that_is_markup_never_becomes_html() -> None:
    app = RxFerrix()

    @app.mutation
    def tick(ctx: MutationCtx) -> None:
        return None

    name = "<img src=x onerror=alert(1)>"
    app.cron(name, "0 0 * * * *", tick)
    async with TestApp(app, start=START) as t:
        page = crons.view(LiveModel.of(t.runtime))

        assert row(page, name)["name"] == name  # the browser writes it as text
        assert "<img" not in texts(page)
