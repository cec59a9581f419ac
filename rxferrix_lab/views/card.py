"""The pieces that pages are made of: a bordered card, a tile with a number, an empty state."""

from collections.abc import Iterable
from typing import Any

import panel as pn
from bokeh.model import Model

from rxferrix_lab.views.labels import esc
from rxferrix_lab.views.stylesheet import CSS

BORDER = {
    "border": "1px solid color-mix(in srgb, currentColor 16%, transparent)",
    "border-radius": "8px",
    "padding": "10px 14px",
}


class TextPane(pn.pane.HTML):
    """Sends its text alone when the text changes.

    Panel works out all that a pane has, for every text, and sends its style sheets again, which in
    a notebook it names by addresses on the network.
    """

    def _update(self, ref: str, model: Model) -> None:
        del ref
        given = {"object": self.object}
        shown = self._process_param_change(given)  # type: ignore[no-untyped-call]  # it is panel's
        model.update(**shown)


def html(text: str = "", **settings: object) -> pn.pane.HTML:
    """A pane for HTML of ours, in our style. Whatever a user made must be escaped before."""
    return TextPane(  # type: ignore[no-untyped-call]  # the constructor is panel's
        text,
        **{
            "sizing_mode": "stretch_width",
            "margin": (0, 0),
            "stylesheets": [CSS],
            "sanitize_html": False,
        }
        | settings,
    )


def put(pane: pn.pane.HTML, text: str) -> None:
    """Show another text; nothing is sent where it is the same."""
    if pane.object != text:
        pane.object = text


def card(title: str, *body: object, aside: object = None, **settings: object) -> pn.Column:
    """A bordered panel with a title, and with `aside` at the title's right."""
    head: list[Any] = [html(f'<div class="rx-h">{esc(title)}</div>')]
    if aside is not None:
        head = [pn.Row(head[0], aside, sizing_mode="stretch_width", margin=0)]
    return pn.Column(
        *head,
        *body,
        **{"sizing_mode": "stretch_width", "margin": (5, 5), "styles": BORDER} | settings,
    )


def tile(label: str, value: str, note: str = "", colour: str = "inherit") -> str:
    """One number, as HTML; label, value and note are escaped here."""
    return (
        f'<div class="rx-tile"><div class="l">{esc(label)}</div>'
        f'<div class="v" style="color:{colour}">{esc(value)}</div>'
        f'<div class="n">{esc(note)}</div></div>'
    )


def tiles(each: Iterable[str]) -> str:
    """Tiles beside each other, as HTML."""
    return f'<div class="rx-tiles">{"".join(each)}</div>'


def empty(text: str, hint: str = "") -> str:
    """What to see and do where there is nothing, as HTML."""
    return f'<div class="rx-empty"><b>{esc(text)}</b>{esc(hint)}</div>'


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Names with values, as HTML; the values are HTML already."""
    inside = "".join(f"<dt>{esc(name)}</dt><dd>{value}</dd>" for name, value in rows)
    return f'<dl class="rx-pairs">{inside}</dl>'
