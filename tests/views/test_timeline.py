from datetime import UTC, datetime, timedelta

import panel as pn
import pytest

from rxferrix_lab import MutationCtx, RxFerrix, TestApp
from rxferrix_lab.errors import CronSyntaxError
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.run_marks import schedule_named
from rxferrix_lab.views.timeline import timeline, timeline_of_expression, view
from tests.views.parts import glyphs, parts, texts

NOW = datetime(2026, 3, 27, tzinfo=UTC)
BUCHAREST = "Europe/Bucharest"


def kinds(shown: pn.viewable.Viewable) -> set[str]:
    [pane] = parts(shown, pn.pane.Bokeh)
    return set(glyphs(pane.object))


def test_expression_is_drawn_with_the_clock_change_in_its_days() -> None:
    shown = timeline_of_expression("0 30 3 * * *", BUCHAREST, NOW, days=4)

    assert kinds(shown) == {"run", "moved"}
    assert "moved by the gap" in texts(shown)


def test_days_without_a_change_need_no_legend() -> None:
    shown = timeline_of_expression("0 30 3 * * *", BUCHAREST, NOW, days=1)

    assert kinds(shown) == {"run"}
    assert "legend" not in texts(shown)


def test_wrong_expression_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(CronSyntaxError, match="minute 61"):
        timeline_of_expression("0 61 * * * *", BUCHAREST, NOW)


def test_crowded_lane_is_named_as_a_sample() -> None:
    shown = timeline([schedule_named("<b>beat</b>", "* * * * * *", "UTC")], "UTC", NOW)

    assert "a sample is shown: &lt;b&gt;beat&lt;/b&gt;" in texts(shown)


async def test_live_timeline_moves_with_the_time_of_the_app() -> None:
    app = RxFerrix()

    @app.mutation
    def tick(ctx: MutationCtx) -> None:
        return None

    app.cron("hourly", "0 0 * * * *", tick)
    async with TestApp(app, start=NOW) as t:
        model = LiveModel.of(t.runtime)
        shown = view(model, days=1)
        [pane] = parts(shown, pn.pane.Bokeh)
        first = pane.object

        await t.advance_time(timedelta(hours=2))
        model.refresh()

        assert pane.object is not first
        assert pane.object.x_range.start == first.x_range.start + 2 * 3600 * 1000


async def test_paused_cron_has_no_lane() -> None:
    app = RxFerrix()

    @app.mutation
    def tick(ctx: MutationCtx) -> None:
        return None

    app.cron("hourly", "0 0 * * * *", tick)
    async with TestApp(app, start=NOW) as t:
        t.pause_cron("hourly")

        assert "No cron is awake" in texts(view(LiveModel.of(t.runtime)))
