"""First, previous, next, last, and where one is. Knows keys, and never counts rows off."""

from collections.abc import Callable
from functools import partial
from typing import Any

import panel as pn
import panel_material_ui as pmui

from rxferrix_lab.reactive.job_filter import JobPage, Place
from rxferrix_lab.views.card import html, put
from rxferrix_lab.views.labels import esc, number


class Pager:
    """Four buttons and a line of text; calls `go` with the place that is wanted."""

    def __init__(self, go: Callable[[Place], Any]) -> None:
        self._go = go
        self._page = JobPage((), 0, 0)
        self._text = html(width=210, sizing_mode="fixed", height=20, margin=(11, 6))
        self._buttons = {
            name: pmui.IconButton(
                icon=icon, description=title, size="small", margin=(2, 0), icon_size="20px"
            )
            for name, icon, title in (
                ("first", "first_page", "First page"),
                ("before", "chevron_left", "Previous page"),
                ("after", "chevron_right", "Next page"),
                ("last", "last_page", "Last page"),
            )
        }
        for name, button in self._buttons.items():
            button.on_click(partial(self._clicked, name))
        self.row = pn.Row(self._text, *self._buttons.values(), margin=0)

    def show(self, page: JobPage) -> None:
        """Show where the page lies among all that match."""
        self._page = page
        first, last = page.position + 1, page.position + len(page.jobs)
        of = f"of {number(page.total)}"
        put(
            self._text,
            f'<div class="rx-right rx-quiet" data-total="{page.total}">'
            + esc(f"{number(first)}–{number(last)} {of}" if page.jobs else "nothing matches")
            + "</div>",
        )
        is_first, is_last = page.position == 0, last >= page.total
        for name, is_off in (
            ("first", is_first),
            ("before", is_first),
            ("after", is_last),
            ("last", is_last),
        ):
            if self._buttons[name].disabled != is_off:
                self._buttons[name].disabled = is_off

    def _clicked(self, name: str, event: object) -> None:
        del event
        jobs = self._page.jobs
        match name:
            case "after" if jobs:
                self._go(Place("after", jobs[-1].id))
            case "before" if jobs:
                self._go(Place("before", jobs[0].id))
            case "last":
                self._go(Place("last"))
            case _:
                self._go(Place())
