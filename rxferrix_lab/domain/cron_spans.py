"""Which occurrences of a cron are settled: each became a job or was skipped, and none does again.

Kept on the cron itself, because jobs are deleted some days after they ended while a clock may be
set back by years. Holds spans of instants, merged so that they stay few. Knows no schedule.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta

from rxferrix_lab.domain.epoch import EPOCH, since_epoch

MOST_SPANS = 50
_MICROSECOND = timedelta(microseconds=1)
Span = tuple[datetime, datetime]  # both ends included


@dataclass(frozen=True, slots=True)
class SettledSpans:
    """Spans in order of time, apart from each other."""

    spans: tuple[Span, ...] = ()

    @classmethod
    def read(cls, text: str) -> "SettledSpans":
        """The spans that `text` wrote; none where somebody damaged it.

        >>> SettledSpans.read("[[0, 60000000]]").text()
        '[[0, 60000000]]'
        """
        try:
            return cls(tuple((_instant(first), _instant(last)) for first, last in json.loads(text)))
        except (ValueError, TypeError, OverflowError):
            return cls()

    def text(self) -> str:
        """The spans as JSON: pairs of microseconds since 1970."""
        return json.dumps(
            [[_microseconds(first), _microseconds(last)] for first, last in self.spans]
        )

    def around(self, instant: datetime) -> Span | None:
        """The span that holds an instant, if one does."""
        return next((span for span in self.spans if span[0] <= instant <= span[1]), None)

    def within(self, first: datetime, last: datetime) -> list[Span]:
        """The parts of spans that lie between two instants, both included."""
        parts = ((max(first, begin), min(last, end)) for begin, end in self.spans)
        return [(begin, end) for begin, end in parts if begin <= end]

    def adding(self, occurrence: datetime, before: datetime | None) -> "SettledSpans":
        """The spans with one more occurrence; `before` is the schedule's occurrence before it.

        Where that one is settled too, both share a span. Too many spans make one of the two oldest.
        """
        if self.around(occurrence) is not None:
            return self
        touched = self.around(before) if before is not None else None
        grown = (touched[0] if touched else occurrence, occurrence)
        spans = sorted([*(span for span in self.spans if span != touched), grown])
        if len(spans) > MOST_SPANS:
            spans[:2] = [(spans[0][0], spans[1][1])]
        return SettledSpans(tuple(spans))


def _instant(microseconds: int) -> datetime:
    return EPOCH + timedelta(microseconds=microseconds)


def _microseconds(instant: datetime) -> int:
    return since_epoch(instant) // _MICROSECOND
