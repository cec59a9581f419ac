"""The page as a whole: bar, sidebar, and the section that is open.

A section is built when it is first opened, and only the open one is kept up to date: each has a
model of its own, and those of the others rest.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import panel as pn
import panel_material_ui as pmui
from panel_material_ui.template.base import Page as MaterialPage
from param.parameterized import Event

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.views import clock_changes, crons, jobs, log, overview, pools
from rxferrix_lab.views.access import Visitor, sign_in_is_on, visitor
from rxferrix_lab.views.following import follow
from rxferrix_lab.views.heartbeat import Heartbeat, come_back
from rxferrix_lab.views.hosting import Hosted, hosted
from rxferrix_lab.views.state_pages import app_failed, sign_in_lost, sign_in_needed
from rxferrix_lab.views.theme import THEME
from rxferrix_lab.views.top_bar import TopBar

View = Callable[[LiveModel, Controls], pn.viewable.Viewable]
FOLDER = Path("dashboard")
IN_URL = (
    *("section", "zone", "job", "states", "text", "function", "pool", "cron", "since", "until"),
    *("order", "at", "is_dark"),
)


@dataclass(frozen=True, slots=True)
class Section:
    """One entry of the sidebar."""

    name: str  # in the URL
    title: str
    icon: str  # of the Material icons
    view: View


SECTIONS: tuple[Section, ...] = (
    Section("overview", "Overview", "dashboard", overview.view),
    Section("jobs", "Jobs", "list_alt", jobs.view),
    Section("crons", "Crons", "schedule", crons.view),
    Section("clock", "Clock changes", "update", clock_changes.view),
    Section("pools", "Pools", "memory", pools.view),
    Section("log", "Log", "receipt_long", log.view),
)


def start_app(argv: list[str]) -> None:
    """Start the app of this server; for `on_server_loaded`."""
    hosted(argv, FOLDER.resolve()).running()


def stop_app(argv: list[str]) -> None:
    """Stop it cleanly; for `on_server_unloaded`."""
    hosted(argv, FOLDER.resolve()).stop()


def serve_page(argv: list[str]) -> None:
    """Make the current session's page servable."""
    page_of(hosted(argv, FOLDER.resolve())).servable()


def page_of(host: Hosted) -> MaterialPage:
    """The page for the current session's visitor."""
    pn.extension(notifications=True)
    who = visitor()
    if who.identity is None:
        return _plain(sign_in_lost() if sign_in_is_on() else sign_in_needed())
    app = host.running()
    if app is None:
        return _plain(app_failed(host))
    return Page(app, who).page


def _plain(content: pn.viewable.Viewable) -> MaterialPage:
    # A sidebar that is closed leaves the page its width to the left, though there is nothing in it.
    return MaterialPage(title="rxferrix lab", main=[content], sidebar_open=True, theme_config=THEME)


class Page:
    """One session's page of a running app."""

    def __init__(self, app: RxFerrix, who: Visitor) -> None:
        face = app.as_user(who.identity) if who.identity is not None else app
        self._model = face.model()  # the bar's own
        self._new_model = face.model
        self._controls = Controls(section=SECTIONS[0].name)
        self._models: dict[str, LiveModel] = {}
        self._built: dict[str, pn.viewable.Viewable] = {}
        self._heartbeat = Heartbeat(  # type: ignore[no-untyped-call]  # the constructor is panel's
            width=0, height=0, margin=0
        )
        self._main = pn.Column(sizing_mode="stretch_width", margin=0)
        self._bar = TopBar(self._model, self._controls, who)
        self._menu = pmui.MenuList(
            items=[{"label": each.title, "icon": each.icon} for each in SECTIONS],
            active=0,
            sizing_mode="stretch_width",
        )
        self.page = MaterialPage(
            title="rxferrix lab",
            header=[self._bar.row],
            sidebar=[self._menu],
            sidebar_width=190,
            theme_config=THEME,
            main=[self._main, self._heartbeat],
        )
        self._wire()

    def _wire(self) -> None:
        location, document = pn.state.location, pn.state.curdoc
        if location is not None:
            location.sync(self._controls, {name: name for name in IN_URL})
        self._menu.param.watch(self._chosen, "active")
        self.page.dark_theme = self._controls.is_dark
        self.page.param.watch(self._theme_toggled, "dark_theme")
        self._controls.param.watch(self._open, ["section"])
        self._open()
        if document is not None:
            follow(self._model, document, self._drawn)
            come_back(document)

    def _theme_toggled(self, event: Event) -> None:
        self._controls.is_dark = cast("bool", event.new)

    def _chosen(self, event: Event) -> None:
        chosen = cast("int | tuple[int, ...] | None", event.new)
        at = chosen[0] if isinstance(chosen, tuple) else chosen
        # Setting the menu by hand comes through here too, and must not close the job of the URL.
        if at is not None and SECTIONS[at].name != self._section().name:
            self._controls.param.update(section=SECTIONS[at].name, job=0)

    def _section(self) -> Section:
        named = (each for each in SECTIONS if each.name == self._controls.section)
        return next(named, SECTIONS[0])

    def _open(self, *_: object) -> None:
        section = self._section()
        if section.name not in self._built:
            model = self._models[section.name] = self._new_model()
            self._built[section.name] = section.view(model, self._controls)
        else:
            self._models[section.name].refresh()
        self._menu.active = SECTIONS.index(section)
        self._main[:] = [self._built[section.name]]

    def _drawn(self) -> None:
        self._model.refresh()
        self._models[self._section().name].refresh()
        self._heartbeat.pulse(self._model.health)
