"""`app.show`: views that stand alone in a cell, and follow the app there."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rxferrix_lab import MutationCtx, RxFerrix, VirtualClock, VirtualTimeError
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.views.time_slider import slider

START = datetime(2026, 3, 28, 12, tzinfo=UTC)
LONGEST_WAIT_S = 60.0


@pytest.fixture
def app() -> Iterator[RxFerrix]:
    app = RxFerrix(clock=VirtualClock(START), interactive=True)

    @app.mutation
    def night(ctx: MutationCtx) -> None: ...

    app.cron_tz("night", "0 30 3 * * *", "Europe/Bucharest", night)
    app.start()
    yield app
    app.stop()


@pytest.mark.parametrize("name", ["jobs", "crons", "timeline", "clock_changes", "pools", "lab"])
def test_view_is_built_for_a_running_app(app: RxFerrix, name: str) -> None:
    shown = getattr(app.show, name)(zone="Europe/Bucharest")

    assert len(shown) == 1


def test_view_in_a_cell_follows_the_commits_by_itself(app: RxFerrix) -> None:
    shown: Any = app.show.lab(days=2)
    ran = shown[0][2][1]
    has_changed = threading.Event()

    def hear(_: object) -> None:
        has_changed.set()

    ran.param.watch(hear, "object")

    app.advance(timedelta(days=1))

    assert has_changed.wait(LONGEST_WAIT_S)
    assert "moved by a gap: it names 03:30" in ran.object


def mover(app: RxFerrix) -> Callable[[datetime], datetime]:
    def move(until: datetime) -> datetime:
        app.advance_to(until)
        return app.clock.now()

    return move


def test_slider_that_was_let_go_moves_time_to_its_place(app: RxFerrix) -> None:
    model = app.model()
    layout: Any = slider(model, Controls(), mover(app), days=2)
    player = layout[1]

    player.value = 8
    player.param.trigger("value_throttled")

    assert app.clock.now() == START + timedelta(hours=2)
    assert "stands at" in layout[0].object


def test_slider_dragged_back_leaves_time_where_it_stands(app: RxFerrix) -> None:
    layout: Any = slider(app.model(), Controls(), mover(app), days=2)
    app.advance(timedelta(days=1))

    layout[1].value = 4
    layout[1].param.trigger("value_throttled")

    assert app.clock.now() == START + timedelta(days=1)
    assert "2026-03-29 12:00:00" in layout[0].object


def test_slider_for_the_clock_of_the_machine_is_refused() -> None:
    app = RxFerrix().start()
    try:
        with pytest.raises(VirtualTimeError, match="VirtualClock"):
            app.show.lab()
    finally:
        app.stop()
