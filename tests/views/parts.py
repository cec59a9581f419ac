"""The parts of a view or of a figure, by their class, for tests that look into one."""

from typing import TypeVar, cast

import panel as pn
from bokeh.model import Model
from bokeh.models.glyph import Glyph
from bokeh.models.renderers import GlyphRenderer

P = TypeVar("P", bound=pn.viewable.Viewable)
M = TypeVar("M", bound=Model)


def parts(page: pn.viewable.Viewable, kind: type[P]) -> list[P]:
    """Every part of this class, in the order of the page."""
    return [part for part in page.select(kind) if isinstance(part, kind)]


def models(root: Model, kind: type[M]) -> list[M]:
    """Every Bokeh model of this class below another."""
    return [model for model in root.references() if isinstance(model, kind)]


def texts(page: pn.viewable.Viewable) -> str:
    """The HTML of the page."""
    return "\n".join(str(pane.object) for pane in parts(page, pn.pane.HTML))


def glyphs(root: Model) -> dict[str, Glyph]:
    """The glyphs of a figure, by the names of their renderers."""
    kind = cast("type[GlyphRenderer[Glyph]]", GlyphRenderer)
    return {str(renderer.name): renderer.glyph for renderer in models(root, kind)}
