"""Doing something with the app: await it, say how it went, ask first where it is much."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import panel as pn
import panel_material_ui as pmui

from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.views.grid import run_callback
from rxferrix_lab.views.labels import esc, short

T = TypeVar("T")
ASK_ABOVE = 100


def notify(text: str, kind: str = "success") -> None:
    """Tell the session something; escaped here. Nothing where there is no page."""
    area = pn.state.notifications
    if area is not None:
        getattr(area, kind)(esc(short(text, 300)), duration=8000 if kind == "error" else 4000)


async def perform(work: Awaitable[T], said: str | Callable[[T], str] = "") -> T | None:
    """Await what the app does; how it went becomes a notification. None where it was refused."""
    try:
        value = await work
    except (RxFerrixError, ValueError) as error:
        notify(str(error), "error")
        return None
    text = said(value) if callable(said) else said
    if text:
        notify(text)
    return value


class Question:
    """A dialog with yes and no; put `.dialog` somewhere in the page."""

    def __init__(self) -> None:
        self._text = pmui.Typography("", sizing_mode="stretch_width")
        self._yes = pmui.Button(label="Yes", color="error", variant="contained")
        no = pmui.Button(label="No, keep it as it is", variant="outlined")
        self.dialog = pmui.Dialog(
            self._text, pn.Row(self._yes, no), open=False, close_on_click=True
        )
        self._on_yes: Callable[[], Any] | None = None
        self._yes.on_click(self._answered_yes)
        no.on_click(self._answered_no)

    def ask(self, text: str, on_yes: Callable[[], Any], yes: str = "Yes") -> None:
        """Ask, and call `on_yes` (a coroutine function too) if the answer is yes."""
        self._text.object = esc(text)
        self._yes.label = yes
        self._on_yes = on_yes
        self.dialog.open = True

    def _answered_yes(self, event: object) -> None:
        del event
        self.dialog.open = False
        on_yes, self._on_yes = self._on_yes, None
        if on_yes is not None:
            run_callback(on_yes)

    def _answered_no(self, event: object) -> None:
        del event
        self.dialog.open = False
        self._on_yes = None
