"""A table of our own: few bytes on the wire, and nothing in it to escape.

Every text reaches the page as text and never as HTML. Rows are set whole; the browser changes those
that differ. Clicks come back as names and ids. Knows nothing of jobs.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol

import panel as pn
import param
from panel.custom import JSComponent

from rxferrix_lab.views.palette import STATES
from rxferrix_lab.views.stylesheet import CSS, GRID_CSS

Row = dict[str, Any]  # JSON: a text or {"chip": state, "note": text} by column, "_id", "_actions"


@dataclass(frozen=True, slots=True)
class Column:
    """One column.

    Attributes:
        key: of its value in a row.
        title: its header.
        align: "right" for numbers.
        sort: what a click on the header asks for; empty where it cannot be sorted.
        look: "mono" or "quiet".
        room: "middle" or "wide" where a narrower table leaves it out: a row's page says it too.
    """

    key: str
    title: str
    align: Literal["left", "right"] = "left"
    sort: str = ""
    look: str = ""
    room: Literal["", "middle", "wide"] = ""


@dataclass(frozen=True, slots=True)
class Action:
    """A button that rows may have."""

    name: str
    title: str
    icon: str = ""  # the path of an icon of 16 by 16


class Click(Protocol):
    """What the browser sends."""

    data: dict[str, Any]


class Grid(JSComponent):
    """The table. `rows` is written by the view, `selected` by the browser."""

    columns_: list[Any] = param.List(default=[])  # type: ignore[assignment]  # a param descriptor
    rows: list[Row] = param.List(default=[])  # type: ignore[assignment]
    actions_: list[Any] = param.List(default=[])  # type: ignore[assignment]
    marks: dict[str, Any] = param.Dict(default={})  # type: ignore[assignment]
    selected: list[str] = param.List(default=[])  # type: ignore[assignment]
    order: str = param.String(default="")  # type: ignore[assignment]
    is_selectable: bool = param.Boolean(default=False)  # type: ignore[assignment]
    is_openable: bool = param.Boolean(default=False)  # type: ignore[assignment]
    empty_text: str = param.String(default="Nothing here yet.")  # type: ignore[assignment]

    _stylesheets = [CSS, GRID_CSS]  # noqa: RUF012  # panel reads it from the class

    _esm = """
    function place(spec) {
      return (spec.align === 'right' ? 'right ' : '') + (spec.room ? 'room-' + spec.room + ' ' : '')
    }
    function cell(spec, value, marks) {
      const td = document.createElement('td')
      td.className = place(spec) + (spec.look || '')
      if (value && typeof value === 'object') {
        const mark = marks[value.chip] || {text: value.chip, path: '', colour: '#8a94a6'}
        const chip = document.createElement('span')
        chip.className = 'rx-chip'
        chip.style.setProperty('--rx-tone', mark.colour)
        const word = mark.text + (value.note ? ' ' + value.note : '')
        chip.append(icon(mark.path), document.createTextNode(word))
        td.append(chip)
      } else {
        td.textContent = value == null ? '' : String(value)
        td.title = td.textContent
      }
      return td
    }
    function icon(path) {
      const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
      const look = {viewBox: '0 0 16 16', width: 12, height: 12, fill: 'none',
        stroke: 'currentColor', 'stroke-width': 2, 'stroke-linecap': 'round',
        'stroke-linejoin': 'round', 'aria-hidden': 'true'}
      for (const [k, v] of Object.entries(look)) svg.setAttribute(k, v)
      const p = document.createElementNS('http://www.w3.org/2000/svg', 'path')
      p.setAttribute('d', path)
      svg.append(p)
      return svg
    }
    export function render({model, el}) {
      const root = document.createElement('div')
      root.className = 'rx-grid'
      const table = document.createElement('table')
      const head = document.createElement('thead')
      const body = document.createElement('tbody')
      const empty = document.createElement('div')
      empty.className = 'rx-empty'
      table.append(head, body)
      root.append(table, empty)
      let shown = new Map()
      function header() {
        const tr = document.createElement('tr')
        if (model.is_selectable) {
          const th = document.createElement('th')
          const all = document.createElement('input')
          all.type = 'checkbox'
          all.setAttribute('aria-label', 'Select every row of this page')
          all.checked = model.rows.length > 0 && model.selected.length === model.rows.length
          all.onchange = () => { model.selected = all.checked ? model.rows.map(r => r._id) : [] }
          th.append(all)
          tr.append(th)
        }
        for (const spec of model.columns_) {
          const th = document.createElement('th')
          th.className = place(spec)
          if (spec.sort) {
            const button = document.createElement('button')
            const isDown = model.order === '-' + spec.sort
            const sign = model.order === spec.sort ? ' \\u25B2' : isDown ? ' \\u25BC' : ''
            button.textContent = spec.title + sign
            button.onclick = () => model.send_event('sort', {detail: spec.sort})
            th.setAttribute('aria-sort', !sign ? 'none' : isDown ? 'descending' : 'ascending')
            th.append(button)
          } else th.textContent = spec.title
          tr.append(th)
        }
        if (model.actions_.length) tr.append(document.createElement('th'))
        head.replaceChildren(tr)
      }
      function line(row) {
        const tr = document.createElement('tr')
        tr.dataset.id = row._id
        if (model.is_selectable) {
          const td = document.createElement('td')
          const box = document.createElement('input')
          box.type = 'checkbox'
          box.setAttribute('aria-label', 'Select ' + row._id)
          box.checked = model.selected.includes(row._id)
          box.onclick = event => event.stopPropagation()
          box.onchange = () => {
            const others = model.selected.filter(id => id !== row._id)
            model.selected = box.checked ? [...others, row._id] : others
          }
          td.append(box)
          tr.append(td)
        }
        for (const spec of model.columns_) tr.append(cell(spec, row[spec.key], model.marks))
        if (model.actions_.length) {
          const td = document.createElement('td')
          td.className = 'acts'
          for (const action of model.actions_) {
            if (!(row._actions || []).includes(action.name)) continue
            const button = document.createElement('button')
            button.title = action.title
            button.setAttribute('aria-label', action.title)
            if (action.icon) button.append(icon(action.icon))
            else button.textContent = action.title
            button.onclick = event => {
              event.stopPropagation()
              model.send_event('act', {detail: [action.name, row._id]})
            }
            td.append(button)
          }
          tr.append(td)
        }
        if (model.is_openable) {
          tr.className = 'open'
          tr.tabIndex = 0
          tr.onclick = () => model.send_event('open', {detail: row._id})
          tr.onkeydown = event => { if (event.key === 'Enter') tr.click() }
        }
        return tr
      }
      function draw() {
        const next = new Map()
        const lines = []
        for (const row of model.rows) {
          const text = JSON.stringify(row) + model.selected.includes(row._id)
          const old = shown.get(row._id)
          const tr = old && old.text === text ? old.tr : line(row)
          next.set(row._id, {text, tr})
          lines.push(tr)
        }
        shown = next
        const same = body.children.length === lines.length &&
          lines.every((tr, i) => body.children[i] === tr)
        if (!same) {
          lines.forEach((tr, i) => {
            if (body.children[i] !== tr) body.insertBefore(tr, body.children[i] || null)
          })
          while (body.children.length > lines.length) body.lastChild.remove()
        }
        empty.textContent = model.rows.length ? '' : model.empty_text
        empty.style.display = model.rows.length ? 'none' : ''
        header()
      }
      model.on(['rows', 'selected', 'order', 'columns_', 'actions_', 'empty_text'], draw)
      draw()
      return root
    }
    """

    def __init__(
        self,
        columns: Sequence[Column] = (),
        *,
        actions: Sequence[Action] = (),
        selectable: bool = False,
        openable: bool = False,
        **settings: object,
    ) -> None:
        super().__init__(  # type: ignore[no-untyped-call]  # the constructor is panel's
            columns_=[_plain(column) for column in columns],
            actions_=[_plain(action) for action in actions],
            is_selectable=selectable,
            is_openable=openable,
            marks={
                name: {"text": mark.text, "path": mark.path, "colour": mark.colour}
                for name, mark in STATES.items()
            },
            **{"sizing_mode": "stretch_width", **settings},
        )
        self._acted: list[Callable[[str, str], Any]] = []
        self._opened: list[Callable[[str], Any]] = []
        self._sorted: list[Callable[[str], Any]] = []

    def on_action(self, callback: Callable[[str, str], Any]) -> None:
        """Call with (action, row id) when a row's button is clicked; coroutine functions too."""
        self._acted.append(callback)

    def on_open(self, callback: Callable[[str], Any]) -> None:
        """Call with the row's id when a row is clicked."""
        self._opened.append(callback)

    def on_sort(self, callback: Callable[[str], Any]) -> None:
        """Call with the column's `sort` when its header is clicked."""
        self._sorted.append(callback)

    def show_rows(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Show these rows; nothing is sent where they are the ones shown."""
        fresh = [dict(row) for row in rows]
        if fresh == self.rows:
            return
        ids = {row["_id"] for row in fresh}
        kept = [row for row in self.selected if row in ids]
        changes: dict[str, Any] = {"rows": fresh}
        if kept != self.selected:
            changes["selected"] = kept
        self.param.update(**changes)

    # --- called by panel ------------------------------------------------------------------------
    def _handle_act(self, event: Click) -> None:
        name, row = event.data["detail"]
        for callback in self._acted:
            self._run(callback, str(name), str(row))

    def _handle_open(self, event: Click) -> None:
        for callback in self._opened:
            self._run(callback, str(event.data["detail"]))

    def _handle_sort(self, event: Click) -> None:
        for callback in self._sorted:
            self._run(callback, str(event.data["detail"]))

    def _run(self, callback: Callable[..., Any], *args: str) -> None:
        run_callback(callback, *args)


def run_callback(callback: Callable[..., Any], *args: object) -> None:
    """Call a callback; where it is a coroutine function, run it as a task of the session's loop.

    It waits until the browser has the page: panel drops what it draws before.
    """
    call = partial(callback, *args)
    if pn.state.loaded:
        pn.state.execute(call, schedule=False)
    else:
        pn.state.onload(call)


def _plain(spec: Column | Action) -> dict[str, str]:
    return {name: getattr(spec, name) for name in type(spec).__dataclass_fields__}
