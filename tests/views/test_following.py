"""Sessions follow an app, and leave nothing behind."""

import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import panel as pn
import pytest
from bokeh.document import Document
from bokeh.events import DocumentReady
from panel.io.document import MockSessionContext
from panel.io.state import set_curdoc

from rxferrix_lab import RxFerrix
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.views import jobs, overview
from rxferrix_lab.views.following import follow
from rxferrix_lab.views.grid import run_callback

PATIENCE_S = 20.0


@pytest.fixture
def app() -> Iterator[RxFerrix]:
    """A running app with nothing in it."""
    made = RxFerrix(interactive=False).start()
    yield made
    made.stop()


def waiting(document: Document) -> int:
    return len(document.session_callbacks)


def test_one_callback_waits_however_many_pictures_come(app: RxFerrix) -> None:
    document, model = Document(), app.model()
    seen, heard = threading.Semaphore(0), model.hub
    stop_counting = heard.follow(seen.release)

    stop = follow(model, document, lambda: None)
    for _ in range(3):
        assert seen.acquire(timeout=PATIENCE_S)

    assert waiting(document) == 1
    stop()
    stop_counting()


def in_a_session() -> Document:
    """A document whose browser has not said yet that it has the page."""
    document = Document()
    session = MockSessionContext(document=document)
    document._session_context = lambda: session  # type: ignore[assignment]  # as panel itself does
    ready: Any = pn.state  # panel's own application hears the browser by what is private to it
    document.on_event("document_ready", partial(ready._schedule_on_load, document))
    return document


def test_what_is_asked_before_the_browser_has_the_page_is_done_once_it_has() -> None:
    document = in_a_session()
    done: list[str] = []

    with set_curdoc(document):
        run_callback(done.append, "cancel")
        assert done == []
        document.callbacks.trigger_event(DocumentReady())
        assert done == ["cancel"]
        run_callback(done.append, "rerun")

    assert done == ["cancel", "rerun"]


def test_nothing_is_drawn_before_the_browser_has_the_page(app: RxFerrix) -> None:
    document, model = in_a_session(), app.model()
    drawn: list[int] = []
    with set_curdoc(document):
        stop = follow(model, document, lambda: drawn.append(1))
    assert (model.hub.followers, waiting(document)) == (0, 0)

    document.callbacks.trigger_event(DocumentReady())

    assert (model.hub.followers, waiting(document)) == (1, 1)
    stop()
    assert drawn == []


def test_fifty_sessions_that_ended_leave_no_thread_no_listener_and_no_watcher(
    app: RxFerrix,
) -> None:
    hub = app.model().hub
    shared = Controls()
    others = set(threading.enumerate())
    documents = [Document() for _ in range(50)]
    models = [app.model() for _ in documents]
    for document, model in zip(documents, models, strict=True):
        overview.view(model, Controls())
        follow(model, document, model.refresh)

    for document in documents:
        for ended in document.session_destroyed_callbacks:
            ended(None)  # type: ignore[arg-type]  # ours does not look at it

    for thread in set(threading.enumerate()) - others:
        if thread.name == "rxferrix-hub":
            thread.join(PATIENCE_S)
    assert (hub.followers, hub.has_thread, hub.runtime.engine.feed.listeners) == (0, False, 0)
    assert shared.param.watchers == {}


@pytest.mark.parametrize("view", [overview.view, jobs.view])
def test_view_stands_alone_without_controls(app: RxFerrix, view: object) -> None:
    assert callable(view)
    assert view(app.model()) is not None
