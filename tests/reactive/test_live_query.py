"""A query's result that follows the commits."""

import gc
import threading
from collections.abc import Iterator

import pytest

from rxferrix_lab import MutationCtx, QueryCtx, RxFerrix

PATIENCE_S = 20.0


@pytest.fixture
def app() -> Iterator[RxFerrix]:
    """Notes that can be added and counted."""
    made = RxFerrix(interactive=False)
    made.table("notes", "text VARCHAR")

    @made.mutation
    def add(ctx: MutationCtx, text: str) -> None:
        ctx.db.insert("notes", {"text": text})

    @made.query
    def count(ctx: QueryCtx) -> int:
        total: int = ctx.db.sql("SELECT count(*) FROM notes").scalar()
        return total

    yield made.start()
    made.stop()


def live_threads() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "rxferrix-live"]


def test_value_follows_a_commit(app: RxFerrix) -> None:
    live = app.live(app.registry.function("count"))  # type: ignore[arg-type]
    changed = threading.Event()

    def changed_value(event: object) -> None:
        del event
        changed.set()

    live.param.watch(changed_value, "value")
    before = live.value

    app.call(app.registry.function("add"), "lamp")  # type: ignore[arg-type]

    assert changed.wait(PATIENCE_S)
    assert (before, live.value) == (0, 1)
    live.stop()


def test_dropped_query_leaves_no_thread_and_no_listener(app: RxFerrix) -> None:
    live = app.live(app.registry.function("count"))  # type: ignore[arg-type]
    threads = live_threads()

    del live
    gc.collect()

    for thread in threads:
        thread.join(PATIENCE_S)
    assert live_threads() == []
    assert app.model().hub.runtime.engine.feed.listeners == 0
