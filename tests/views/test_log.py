from datetime import UTC, datetime, timedelta

import panel as pn
import panel_material_ui as pmui
import pytest

from rxferrix_lab import (
    ActionCtx,
    Identity,
    JobId,
    MutationCtx,
    PermissionDeniedError,
    RxFerrix,
    TestApp,
)
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.views import log
from rxferrix_lab.views.log_list import LogList
from tests.views.parts import parts, texts

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def app() -> RxFerrix:
    app = RxFerrix()

    @app.mutation(name="note")
    def note(ctx: MutationCtx) -> None:
        return None

    @app.mutation(name="fail")
    def fail(ctx: MutationCtx) -> None:
        raise ValueError("<img src=x onerror=alert(1)>")

    @app.mutation(name="schedule")
    def schedule(ctx: MutationCtx, works: bool) -> JobId:
        return ctx.scheduler.run_after(timedelta(0), note if works else fail)

    @app.action(name="slow")
    async def slow(ctx: ActionCtx) -> None:
        await ctx.sleep(timedelta(minutes=90))

    app.cron("slow-hourly", "0 0 * * * *", slow)
    return app


def rows(page: pn.viewable.Viewable) -> list[dict[str, object]]:
    [found] = parts(page, LogList)
    return list(found.rows)


def button(page: pn.viewable.Viewable, label: str) -> pmui.Button:
    return next(each for each in parts(page, pmui.Button) if each.label == label)


async def test_newest_row_stands_first_with_its_caller(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        await t.run_mutation("note")
        await t.as_user(Identity("ann")).run_mutation("note")
        page = log.view(LiveModel.of(t.runtime))

        assert [(row["function"], row["who"]) for row in rows(page)] == [
            ("note", "user · ann"),
            ("note", "program"),
        ]


async def test_skip_says_why(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        await t.advance_time(timedelta(hours=2))
        page = log.view(LiveModel.of(t.runtime))

        skipped = next(row for row in rows(page) if row["outcome"] == "skipped")
        assert "has not ended" in str(skipped["note"])


async def test_error_shows_its_traceback_once_it_is_opened(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        await t.run_mutation("schedule", False)
        await t.run_due_jobs()
        page = log.view(LiveModel.of(t.runtime))
        [found] = parts(page, LogList)

        row = rows(page)[0]
        assert row["note"] == "ValueError: <img src=x onerror=alert(1)>"  # written as text
        assert found.opened == {}
        found.call("open", str(row["id"]))
        [texts] = found.opened.values()
        assert "raise ValueError" in dict(texts)["Error"]
        found.call("close", str(row["id"]))
        assert found.opened == {}


async def test_what_a_viewer_tried_is_in_the_log(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        with pytest.raises(PermissionDeniedError):
            t.as_user(Identity("eve")).pause_cron("slow-hourly")
        page = log.view(LiveModel.of(t.runtime))

        [row] = rows(page)
        assert (row["outcome"], row["who"]) == ("failed", "operator · eve")


async def test_first_page_follows_the_commits(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        model = LiveModel.of(t.runtime)
        page = log.view(model)
        assert rows(page) == []

        await t.run_mutation("note")
        model.refresh()

        assert len(rows(page)) == 1


async def test_page_holds_fifty_rows_and_offers_the_older_ones(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        for _ in range(log.PAGE + 1):
            await t.run_mutation("note")
        page = log.view(LiveModel.of(t.runtime))

        assert len(rows(page)) == log.PAGE
        assert not button(page, "Older").disabled
        assert button(page, "Newer").disabled


async def test_job_of_a_row_can_be_opened(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        job = await t.run_mutation("schedule", True)
        await t.run_due_jobs()
        controls = Controls()
        [found] = parts(log.view(LiveModel.of(t.runtime), controls), LogList)

        found.call("job", str(job))

        assert (controls.section, controls.job) == ("jobs", job)


async def test_empty_log_says_what_to_do() -> None:
    async with TestApp(RxFerrix(), start=START) as t:
        page = log.view(LiveModel.of(t.runtime))

        assert "Nothing was executed yet" in texts(page)
