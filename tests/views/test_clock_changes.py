from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import panel as pn
import panel_material_ui as pmui
import pytest
from bokeh.models import Axis, CustomJSTickFormatter, Scatter
from bokeh.models.annotations import BoxAnnotation
from bokeh.plotting import figure

from rxferrix_lab import MutationCtx, RxFerrix, TestApp
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.views import clock_changes
from tests.views.parts import glyphs, models, parts, texts

START = datetime(2026, 3, 1, tzinfo=UTC)
BUCHAREST = "Europe/Bucharest"
NAME = "<img src=x onerror=alert(1)>"


@pytest.fixture
def app() -> RxFerrix:
    app = RxFerrix()

    @app.mutation
    def tick(ctx: MutationCtx) -> None:
        return None

    app.cron_tz(NAME, "0 30 3 * * *", BUCHAREST, tick)
    app.cron_tz("hourly", "0 0 * * * *", BUCHAREST, tick)
    return app


def figures(page: pn.viewable.Viewable) -> Sequence[figure]:
    return [pane.object for pane in parts(page, pn.pane.Bokeh)]


def shapes(plot: figure) -> dict[str, str]:
    drawn = glyphs(plot).items()
    return {name: str(glyph.marker) for name, glyph in drawn if isinstance(glyph, Scatter)}


def zone_of(page: pn.viewable.Viewable) -> pmui.AutocompleteInput:
    [zone] = parts(page, pmui.AutocompleteInput)
    return zone


async def test_sentence_says_what_happens_to_the_crons(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        page = clock_changes.view(LiveModel.of(t.runtime))

        assert (
            "On 29 March 2026 the clocks in Europe/Bucharest go from 03:00 to 04:00; "
            "1 of 2 crons is moved, 1 pair merges." in texts(page)
        )


async def test_each_kind_of_mark_has_a_shape_of_its_own(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        wall, lanes = figures(clock_changes.view(LiveModel.of(t.runtime)))

        assert shapes(lanes) == {"run": "circle", "moved": "diamond", "merged": "square"}
        assert "circle_x" in shapes(wall).values()


async def test_repeated_hour_is_shaded_and_its_second_passing_hollow(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        page = clock_changes.view(LiveModel.of(t.runtime))
        change = next(each for each in parts(page, pmui.Select) if each.label == "Change")
        change.value = change.options[1]

        _, lanes = figures(page)
        hollow = glyphs(lanes)["second passing"]
        assert isinstance(hollow, Scatter)
        assert hollow.fill_alpha == 0
        assert len(models(lanes, BoxAnnotation)) == 2
        assert "run the first time only" in texts(page)


async def test_wall_clock_stands_above_and_utc_below(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        for plot in figures(clock_changes.view(LiveModel.of(t.runtime))):
            [above], [below] = plot.above, plot.below
            assert isinstance(above, Axis)
            assert isinstance(above.formatter, CustomJSTickFormatter)
            assert above.formatter.args == {"zone": BUCHAREST}
            assert isinstance(below, Axis)
            assert below.axis_label == "UTC"


@pytest.mark.parametrize(
    ("zone", "year", "said"),
    [
        ("Australia/Lord_Howe", 2026, "from 02:00 to 01:30"),
        ("Antarctica/Troll", 2026, "from 01:00 to 03:00"),
        ("Pacific/Apia", 2011, "from 04:00 to 03:00"),
        ("America/Santiago", 2026, "from 00:00 to 23:00 on 4 April 2026"),
    ],
)
async def test_any_zone_and_year_can_be_picked(
    app: RxFerrix, zone: str, year: int, said: str
) -> None:
    async with TestApp(app, start=START) as t:
        page = clock_changes.view(LiveModel.of(t.runtime))
        zone_of(page).value = zone
        parts(page, pmui.IntInput)[0].value = year

        assert said in texts(page)
        assert len(figures(page)) == 2


async def test_zone_whose_clock_stands_says_so(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        page = clock_changes.view(LiveModel.of(t.runtime))
        zone_of(page).value = "Asia/Tokyo"

        assert "No clock change in Asia/Tokyo" in texts(page)
        assert figures(page) == []


async def test_runs_of_crons_draw_nothing_anew(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        model = LiveModel.of(t.runtime)
        page = clock_changes.view(model)
        before = figures(page)

        await t.advance_time(timedelta(hours=3))
        model.refresh()

        assert all(old is new for old, new in zip(before, figures(page), strict=True))


async def test_zone_of_the_page_is_taken_where_no_cron_has_one() -> None:
    async with TestApp(RxFerrix(), start=START) as t:
        page = clock_changes.view(LiveModel.of(t.runtime), Controls(zone="America/New_York"))

        assert zone_of(page).value == "America/New_York"
        assert "no crons are declared" in texts(page)


async def test_name_that_is_markup_is_shown_as_text(app: RxFerrix) -> None:
    async with TestApp(app, start=START) as t:
        page = clock_changes.view(LiveModel.of(t.runtime))

        assert "<img" not in texts(page)
        assert "&lt;img" in texts(page)
