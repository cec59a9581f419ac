"""The rows of the execution log in the browser; each can be opened to read its output and error.

Every text reaches the page as text and never as HTML. What a row hides is sent when it is opened.
Knows nothing of the app.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import param
from panel.custom import JSComponent

from rxferrix_lab.views.cron_list import Click
from rxferrix_lab.views.grid import run_callback
from rxferrix_lab.views.palette import STATES
from rxferrix_lab.views.stylesheet import CSS

Called = Callable[[str, str], Any]

LIST_CSS = """
.rx-log { container-type: inline-size; width: 100%; }
.rx-entry { border-bottom: 1px solid var(--rx-line); }
.rx-entry .line { display: grid; align-items: baseline; gap: 2px 14px; padding: 6px 4px;
  grid-template-columns: 14px 130px 104px minmax(140px, 1.2fr) 150px 66px minmax(160px, 2fr); }
.rx-entry .line.more { cursor: pointer; }
.rx-entry .line.more:hover { background: var(--rx-ground); }
.rx-entry .line:focus-visible { outline: 2px solid #3b82f6; }
.rx-entry .line > * { min-width: 0; overflow-wrap: anywhere; }
.rx-entry .took { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.rx-entry .when { font-variant-numeric: tabular-nums; }
.rx-entry .body { padding: 0 4px 10px 32px; }
.rx-entry .body h4 { margin: 6px 0 4px; font-size: 12px; font-weight: 500; }
.rx-entry button { font: inherit; font-size: 12px; color: #3b82f6; background: none; border: 0;
  padding: 0; cursor: pointer; }
@container (max-width: 900px) {
  .rx-entry .line { grid-template-columns: 14px 126px 104px minmax(0, 1fr) 66px; }
  .rx-entry .line .who { grid-column: 2 / 4; grid-row: 2; }
  .rx-entry .line .took { grid-column: 5; grid-row: 1; }
  .rx-entry .line .note { grid-column: 4 / -1; grid-row: 2; }
}
"""


def _marks() -> dict[str, dict[str, str]]:
    return {
        name: {"text": mark.text, "path": mark.path, "colour": mark.colour}
        for name, mark in STATES.items()
    }


class LogList(JSComponent):
    """The list. `rows` and `opened` are written by the view only."""

    rows: list[Any] = param.List(default=[])  # type: ignore[assignment]  # a param descriptor
    opened: dict[str, Any] = param.Dict(default={})  # type: ignore[assignment]
    marks: dict[str, Any] = param.Dict(default=_marks())  # type: ignore[assignment]

    _stylesheets = [CSS, LIST_CSS]  # noqa: RUF012  # panel reads it from the class

    _esm = """
    function part(tag, name, text) {
      const node = document.createElement(tag)
      if (name) node.className = name
      if (text !== undefined) node.textContent = text
      return node
    }
    function chip(outcome, marks) {
      const mark = marks[outcome] || {text: outcome, path: '', colour: '#8a94a6'}
      const space = 'http://www.w3.org/2000/svg'
      const svg = document.createElementNS(space, 'svg')
      for (const [k, v] of Object.entries({viewBox: '0 0 16 16', width: 12, height: 12,
        fill: 'none', stroke: 'currentColor', 'stroke-width': 2, 'aria-hidden': 'true'}))
        svg.setAttribute(k, v)
      const path = document.createElementNS(space, 'path')
      path.setAttribute('d', mark.path)
      svg.append(path)
      const node = part('span', 'rx-chip')
      node.style.setProperty('--rx-tone', mark.colour)
      node.append(svg, document.createTextNode(mark.text))
      return node
    }
    function body(texts, row, model) {
      const node = part('div', 'body')
      for (const [title, text] of texts)
        node.append(part('h4', '', title), part('div', 'rx-pre', text))
      if (row.job) {
        const button = part('button', '', 'Open job ' + row.job)
        button.onclick = () => model.send_event('call', {detail: ['job', row.job]})
        node.append(button)
      }
      return node
    }
    function entry(row, texts, model) {
      const root = part('div', 'rx-entry')
      root.dataset.id = row.id
      root.setAttribute('role', 'listitem')
      const line = part('div', row.more ? 'line more' : 'line')
      const state = part('span')
      state.append(chip(row.outcome, model.marks))
      line.append(part('span', 'rx-quiet', row.more ? (texts ? '\\u25BE' : '\\u25B8') : ''),
        part('span', 'when', row.when), state, part('span', '', row.function),
        part('span', 'who rx-quiet', row.who), part('span', 'took', row.took),
        part('span', 'note', row.note))
      if (row.more) {
        const toggle = () => model.send_event('call', {detail: [texts ? 'close' : 'open', row.id]})
        line.tabIndex = 0
        line.setAttribute('role', 'button')
        line.setAttribute('aria-expanded', texts ? 'true' : 'false')
        line.onclick = toggle
        line.onkeydown = event => { if (event.key === 'Enter' || event.key === ' ') toggle() }
      }
      root.append(line)
      if (texts) root.append(body(texts, row, model))
      return root
    }
    export function render({model, el}) {
      const root = part('div', 'rx-log')
      root.setAttribute('role', 'list')
      let shown = new Map()
      function draw() {
        const fresh = new Map()
        for (const row of model.rows) {
          const texts = model.opened[row.id]
          const key = JSON.stringify([row, texts])
          const old = shown.get(row.id)
          fresh.set(row.id, old && old.key === key ? old : {key, node: entry(row, texts, model)})
        }
        shown = fresh
        const nodes = [...fresh.values()].map(each => each.node)
        nodes.forEach((node, i) => {
          if (root.children[i] !== node) root.insertBefore(node, root.children[i] || null)
        })
        while (root.children.length > nodes.length) root.lastChild.remove()
      }
      model.on(['rows', 'opened'], draw)
      draw()
      return root
    }
    """

    _called: Called | None = None

    def on_call(self, callback: Called) -> None:
        """Call with ("open" | "close", row id) or ("job", job id); may be a coroutine function."""
        self._called = callback

    def set_rows(self, rows: Sequence[Mapping[str, Any]], opened: Mapping[str, Any]) -> None:
        """Show these rows and what is open; nothing is sent where nothing differs."""
        fresh, open_rows = [dict(row) for row in rows], dict(opened)
        changes: dict[str, Any] = {}
        if fresh != self.rows:
            changes["rows"] = fresh
        if open_rows != self.opened:
            changes["opened"] = open_rows
        if changes:
            self.param.update(**changes)

    def call(self, verb: str, what: str) -> None:
        """Do what a click does."""
        if self._called is not None:
            run_callback(self._called, verb, what)

    def _handle_call(self, event: Click) -> None:
        verb, what = event.data["detail"]
        self.call(verb, what)
