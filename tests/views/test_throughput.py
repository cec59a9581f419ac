"""The jobs that ended, by minute, as a figure that grows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from bokeh.document import Document
from bokeh.document.events import ColumnDataChangedEvent, ColumnsPatchedEvent
from bokeh.models import ColumnDataSource

from rxferrix_lab.reactive.picture import Bucket
from rxferrix_lab.views.throughput import Throughput

NOW = datetime(2026, 3, 29, 1, 30, 20, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


class Shown:
    """A figure in a document that notes what is sent of it."""

    def __init__(self) -> None:
        self.throughput = Throughput("UTC")
        self.sent: list[Any] = []
        document = Document()
        document.add_root(self.throughput.pane.object)
        document.on_change(self._note)

    def _note(self, event: object) -> None:
        self.sent.append(event)

    def columns(self, state: str) -> list[int]:
        """What the figure holds, by minute; the newest last."""
        source: Any = self.throughput.pane.object.select_one({"type": ColumnDataSource})
        return list(source.data[state])


@pytest.fixture
def figure() -> Shown:
    return Shown()


def test_the_hour_until_now_is_shown_by_minute(figure: Shown) -> None:
    at = NOW.replace(second=0)

    figure.throughput.show([Bucket(at - MINUTE, succeeded=2), Bucket(at, failed=1)], NOW, "UTC")

    assert figure.columns("succeeded") == [0] * 58 + [2, 0]
    assert figure.columns("failed") == [0] * 59 + [1]


def test_only_what_grew_is_sent_within_a_minute(figure: Shown) -> None:
    at = NOW.replace(second=0)
    figure.throughput.show([Bucket(at, succeeded=1)], NOW, "UTC")
    figure.sent.clear()

    figure.throughput.show([Bucket(at, succeeded=2)], NOW + timedelta(seconds=9), "UTC")

    [event] = figure.sent
    assert isinstance(event, ColumnsPatchedEvent)
    assert event.patches == {"succeeded": [(59, 2)]}
    assert figure.columns("succeeded") == [0] * 59 + [2]


def test_the_next_minute_moves_every_bar(figure: Shown) -> None:
    at = NOW.replace(second=0)
    figure.throughput.show([Bucket(at, succeeded=1)], NOW, "UTC")
    figure.sent.clear()

    figure.throughput.show([Bucket(at, succeeded=1)], NOW + MINUTE, "UTC")

    [event] = figure.sent
    assert isinstance(event, ColumnDataChangedEvent)
    assert figure.columns("succeeded") == [0] * 58 + [1, 0]


def test_what_is_shown_already_is_not_sent_again(figure: Shown) -> None:
    figure.throughput.show([], NOW, "UTC")
    figure.sent.clear()

    figure.throughput.show([], NOW + timedelta(seconds=1), "UTC")

    assert figure.sent == []
