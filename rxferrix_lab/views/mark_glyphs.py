"""The glyphs of run marks: one shape for each kind, so that a picture reads without colour.

Draws marks on a figure, and the same shapes as a legend in HTML. Hollow marks are see-through,
because a figure does not know the colour of the page behind it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Literal

from bokeh.models import ColumnDataSource
from bokeh.models.renderers import DataRenderer
from bokeh.plotting import figure

from rxferrix_lab.reactive.run_marks import Mark, MarkKind
from rxferrix_lab.views import palette

Shape = Literal["circle", "diamond", "square", "triangle", "circle_x"]


@dataclass(frozen=True, slots=True)
class MarkGlyph:
    """How one kind of mark is drawn, and what it is called."""

    shape: Shape
    colour: str
    size: int
    text: str
    is_hollow: bool = False


GLYPHS: dict[MarkKind, MarkGlyph] = {
    "second passing": MarkGlyph(
        "circle", palette.QUIET, 9, "second passing, nothing runs", is_hollow=True
    ),
    "skipped time": MarkGlyph(
        "circle_x", palette.GAP, 11, "time that does not exist", is_hollow=True
    ),
    "run": MarkGlyph("circle", palette.colour("succeeded"), 8, "run"),
    "first only": MarkGlyph(
        "triangle", palette.colour("succeeded"), 11, "runs the first time only"
    ),
    "merged": MarkGlyph("square", palette.ACCENT, 10, "two runs that became one"),
    "moved": MarkGlyph("diamond", palette.FOLD, 14, "moved by the gap"),
}


def milliseconds(moment: datetime) -> float:
    """Where a UTC instant, or a naive wall time, lies on an axis."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return aware.timestamp() * 1000


def draw_marks(
    plot: figure, marks: Sequence[tuple[Mark, float, str]], label: str
) -> list[DataRenderer]:
    """Draw marks at their instants and at a height; each says its own words when pointed at.

    Args:
        plot: the figure.
        marks: each with its place on the vertical axis and the name of what it belongs to.
        label: what that name is, for the test and the hover text.

    Returns:
        One renderer for each kind that is there.
    """
    drawn: list[DataRenderer] = []
    for kind, glyph in GLYPHS.items():
        of_kind = [(mark, y, name) for mark, y, name in marks if mark.kind == kind]
        if not of_kind:
            continue
        source = ColumnDataSource(
            {
                "x": [milliseconds(mark.instant) for mark, _, _ in of_kind],
                "y": [y for _, y, _ in of_kind],
                "said": [mark.said for mark, _, _ in of_kind],
                "utc": [f"{mark.instant:%d %b %H:%M:%S} UTC" for mark, _, _ in of_kind],
                label: [name for _, _, name in of_kind],
            },
            name=kind,
        )
        drawn.append(
            plot.scatter(
                "x",
                "y",
                source=source,
                marker=glyph.shape,
                size=glyph.size,
                color=glyph.colour,
                line_color=glyph.colour,
                line_width=2 if glyph.is_hollow else 1,
                line_dash="2 2" if kind == "second passing" else "solid",
                fill_alpha=0 if glyph.is_hollow else 1,
                name=kind,
            )
        )
    return drawn


_SVG = {
    "circle": '<circle cx="8" cy="8" r="4.5"/>',
    "diamond": '<path d="M8 1.5 12.5 8 8 14.5 3.5 8Z"/>',
    "square": '<rect x="3.5" y="3.5" width="9" height="9"/>',
    "triangle": '<path d="M8 2.5 14 13H2Z"/>',
    "circle_x": '<circle cx="8" cy="8" r="5.5"/><path d="M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6"/>',
}


def legend(kinds: Iterable[MarkKind]) -> str:
    """The shapes of these kinds with their names, as HTML."""
    items = "".join(
        '<span style="display:inline-flex;align-items:center;gap:6px">'
        f"{_icon(GLYPHS[kind], kind)}{escape(GLYPHS[kind].text)}</span>"
        for kind in kinds
    )
    return (
        '<div role="note" aria-label="legend" style="display:flex;flex-wrap:wrap;gap:4px 18px;'
        f'font-size:13px">{items}</div>'
    )


def _icon(glyph: MarkGlyph, kind: MarkKind) -> str:
    fill = "none" if glyph.is_hollow else glyph.colour
    dash = ' stroke-dasharray="2 2"' if kind == "second passing" else ""
    return (
        f'<svg width="16" height="16" viewBox="0 0 16 16" fill="{fill}" stroke="{glyph.colour}" '
        f'stroke-width="1.6"{dash} aria-hidden="true">{_SVG[glyph.shape]}</svg>'
    )
