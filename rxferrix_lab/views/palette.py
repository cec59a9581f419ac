"""The colours and marks of states.

Mid-tones, because a plot's colours do not follow the theme. A state is always an icon and a word as
well, so that it reads without colour.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

ACCENT = "#3b82f6"
QUIET = "#8a94a6"
GAP = "#e5484d"
FOLD = "#f5a623"
GOOD = "#2fa36b"
VIOLET = "#8b6ff0"


@dataclass(frozen=True, slots=True)
class Mark:
    """How a state looks.

    Attributes:
        text: the contract's word for it.
        path: of an icon of 16 by 16, drawn with a stroke.
        colour: a mid-tone.
    """

    text: str
    path: str
    colour: str

    @property
    def icon(self) -> str:
        """The icon as inline SVG."""
        return (
            '<svg viewBox="0 0 16 16" width="12" height="12" fill="none" stroke="currentColor" '
            'stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">'
            f'<path d="{self.path}"/></svg>'
        )


STATES: Mapping[str, Mark] = {
    "pending": Mark("pending", "M8 2a6 6 0 1 0 .01 0M8 5v3l2 2", VIOLET),
    "running": Mark("running", "M4 3l9 5-9 5z", ACCENT),
    "canceling": Mark("canceling", "M4 4h8v8H4z", FOLD),
    "succeeded": Mark("succeeded", "M3 8.5l3.5 3.5L13 4.5", GOOD),
    "failed": Mark("failed", "M4 4l8 8M12 4l-8 8", GAP),
    "canceled": Mark("canceled", "M8 2a6 6 0 1 0 .01 0M4 12l8-8", QUIET),
    "skipped": Mark("skipped", "M3 4l5 4-5 4zM12 4v8", QUIET),
    "missed": Mark("missed", "M8 2v8M8 13.5v.01", FOLD),
}
UNKNOWN = Mark("?", "M8 2v8M8 13.5v.01", QUIET)


def mark(state: str) -> Mark:
    """How a state looks; a plain mark for one that is not known."""
    return STATES.get(state, UNKNOWN)


def colour(state: str) -> str:
    """A state's colour, as #rrggbb."""
    return mark(state).colour


def state_chip(state: str, note: str = "") -> str:
    """The state as HTML: icon and word on a tinted ground."""
    found = mark(state)
    text = escape(found.text + (f" {note}" if note else ""))
    return (
        f'<span class="rx-chip" style="--rx-tone:{found.colour}">{found.icon}'
        f"<span>{text}</span></span>"
    )
