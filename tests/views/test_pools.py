from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bokeh.models import ColumnDataSource

from rxferrix_lab import ActionCtx, Identity, MutationCtx, RxFerrix, TestApp, Workpool
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.picture import PoolPicture, PoolRun, PoolSample
from rxferrix_lab.views import pools
from rxferrix_lab.views.grid import Grid
from rxferrix_lab.views.pool_figures import OccupancyFigure, SlotFigure
from tests.views.parts import models, parts, texts

START = datetime(2026, 1, 1, tzinfo=UTC)
NAME = "<img src=x onerror=alert(1)>"


def pool(name: str = "emails", limit: int = 2, **fields: int) -> PoolPicture:
    numbers = {"in_use": 0, "queued": 0, "later": 0} | fields
    return PoolPicture(
        name=name,
        is_plain=name == "",
        is_declared=True,
        limit=limit,
        declared=2,
        in_use=numbers["in_use"],
        queued=numbers["queued"],
        later=numbers["later"],
        oldest_due_at=None,
        stragglers=(),
        history=(),
        runs=(),
    )


def sample(second: int, in_use: int, queued: int) -> PoolSample:
    return PoolSample(START + timedelta(seconds=second), in_use, queued, 2)


@pytest.fixture
def app() -> RxFerrix:
    app = RxFerrix()
    app.workpool(Workpool("emails", max_parallelism=2))
    app.workpool(Workpool(NAME, max_parallelism=1))

    @app.action
    async def send(ctx: ActionCtx) -> None:
        await ctx.sleep(timedelta(minutes=5))

    @app.mutation(name="fill")
    def fill(ctx: MutationCtx, jobs: int) -> None:
        for _ in range(jobs):
            ctx.scheduler.pool("emails").enqueue(send)

    return app


async def fill(t: TestApp, jobs: int) -> None:
    await t.run_mutation("fill", jobs)
    await t.advance_time(timedelta(minutes=1))


async def test_full_pool_is_shown_first_with_what_waits_and_for_how_long(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        await fill(t, 5)
        page = pools.view(LiveModel.of(t.runtime))

        assert "emails is full; 3 wait, the oldest for 1 min." in texts(page)
        [grid] = parts(page, Grid)
        row = next(each for each in grid.rows if each["name"] == "emails")
        assert (row["slots"], row["queued"], row["wait"]) == ("2 / 2", "3", "1 min")


async def test_paused_pool_says_so_and_offers_to_resume(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        t.resize_pool("emails", 0)
        await fill(t, 1)
        page = pools.view(LiveModel.of(t.runtime))

        assert "emails is paused; 1 wait." in texts(page)
        [grid] = parts(page, Grid)
        assert next(r for r in grid.rows if r["name"] == "emails")["_actions"] == [
            *("resume", "cancel"),
        ]


async def test_viewer_is_offered_nothing_that_changes(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        page = pools.view(LiveModel.of(t.runtime, Identity("ann")))

        [grid] = parts(page, Grid)
        assert [row["_actions"] for row in grid.rows] == [[], [], []]


async def test_name_that_is_markup_is_shown_as_text(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        page = pools.view(LiveModel.of(t.runtime))

        assert "<img" not in texts(page)


def test_slots_of_no_pool_cannot_be_operated() -> None:
    row = pools.table_row(pool(name=""), "–", may_operate=True)

    assert (row["name"], row["_actions"]) == ("(in no pool)", [])


def test_question_before_cancelling_gives_the_numbers_first() -> None:
    asked = pools.cancel_question(pool(in_use=2, queued=3, later=4))

    assert asked.startswith("7 queued and 2 running jobs of emails are canceled.")


def columns(figure: OccupancyFigure) -> dict[str, list[float]]:
    [source] = models(figure.plot, ColumnDataSource)
    data: Any = source.data
    return {name: list(data[name]) for name in ("in_use", "queued", "limit")}


def test_queue_is_mirrored_below_the_slots() -> None:
    figure = OccupancyFigure("UTC")

    figure.show([sample(0, 2, 0), sample(1, 2, 5)])

    assert columns(figure) == {"in_use": [2, 2], "queued": [0, -5], "limit": [2, 2]}


def test_new_samples_follow_those_shown() -> None:
    figure = OccupancyFigure("UTC")
    first, second, third = sample(0, 1, 0), sample(1, 2, 0), sample(2, 2, 1)

    figure.show([first, second])
    figure.show([first, second, third])

    assert columns(figure)["in_use"] == [1, 2, 2]


def test_history_that_begins_anew_replaces_what_was_shown() -> None:
    figure = OccupancyFigure("UTC")

    figure.show([sample(0, 1, 0), sample(1, 1, 0)])
    figure.show([sample(60, 2, 0)])

    assert columns(figure)["in_use"] == [2]


def test_run_that_goes_on_reaches_up_to_now() -> None:
    runs = (
        PoolRun(JobId(1), "send", START, START + timedelta(seconds=2), "failed"),
        PoolRun(JobId(2), "send", START, None, "running"),
    )
    figure = SlotFigure("UTC")
    now = (START + timedelta(seconds=9)).timestamp() * 1000

    figure.show(replace(pool(), runs=runs), now)

    [source] = models(figure.plot, ColumnDataSource)
    bars = source.data
    assert (bars["lane"], bars["right"]) == ([0, 1], [now - 7000, now])
    assert bars["hatch"][0] != bars["hatch"][1]
