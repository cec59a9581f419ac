"""Following an app: one listener and one thread for all, and nothing left when nobody follows."""

import threading
from collections.abc import Iterator
from datetime import timedelta

import pytest

from rxferrix_lab import MutationCtx, RxFerrix
from rxferrix_lab.reactive.model import LiveModel

PATIENCE_S = 20.0


@pytest.fixture
def app() -> Iterator[RxFerrix]:
    """A running app with one mutation."""
    made = RxFerrix(interactive=False)

    @made.mutation
    def note(ctx: MutationCtx) -> None:
        ctx.scheduler.run_after(timedelta(days=1), note)

    with_thread = made.start()
    yield with_thread
    made.stop()


@pytest.fixture
def others() -> list[threading.Thread]:
    """The hubs of apps that earlier tests still show, such as a notebook's."""
    return hub_threads()


def hub_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "rxferrix-hub"]


def ended(threads: list[threading.Thread]) -> bool:
    for thread in threads:
        thread.join(PATIENCE_S)
    return not any(thread.is_alive() for thread in threads)


def test_follower_is_woken_by_a_commit(app: RxFerrix) -> None:
    model = app.model()
    seen = threading.Event()

    def wake() -> None:
        if model.hub.picture.counts.pending:
            seen.set()

    stop = model.follow(wake)
    app.call(app.registry.function("note"))  # type: ignore[arg-type]  # found by its name

    assert seen.wait(PATIENCE_S)
    stop()


def test_fifty_sessions_share_one_thread_and_leave_nothing(
    others: list[threading.Thread], app: RxFerrix
) -> None:
    models: list[LiveModel] = [app.model() for _ in range(50)]
    hub = models[0].hub

    stops = [model.follow(lambda: None) for model in models]
    while_followed = [thread for thread in hub_threads() if thread not in others]
    for stop in stops:
        stop()

    assert len(while_followed) == 1
    assert ended(while_followed)
    assert (hub.followers, hub.has_thread, hub.runtime.engine.feed.listeners) == (0, False, 0)


def test_hub_follows_again_after_it_was_left(others: list[threading.Thread], app: RxFerrix) -> None:
    model, woken = app.model(), threading.Event()
    model.follow(lambda: None)()
    assert ended([thread for thread in hub_threads() if thread not in others])

    stop = model.follow(woken.set)

    assert woken.wait(PATIENCE_S)
    stop()


def test_followers_of_an_app_that_has_stopped_are_told_and_let_go(
    app: RxFerrix, others: list[threading.Thread]
) -> None:
    model = app.model()
    told = threading.Event()

    def wake() -> None:
        if model.hub.picture.health.problem:
            told.set()

    model.follow(wake)
    app.stop()

    assert told.wait(PATIENCE_S)
    assert ended([thread for thread in hub_threads() if thread not in others])
    assert model.hub.followers == 0
