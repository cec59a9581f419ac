"""The list of crons in the browser: name, strip of runs, next run, counters and buttons.

Every text reaches the page as text and never as HTML. Clicks come back as the name of the action
and of the cron. Knows nothing of schedules.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import param
from panel.custom import JSComponent

from rxferrix_lab.views.cron_strip import shapes
from rxferrix_lab.views.grid import run_callback
from rxferrix_lab.views.stylesheet import CSS

Acted = Callable[[str, str], Any]

LIST_CSS = """
.rx-crons { container-type: inline-size; width: 100%; }
.rx-cron { display: grid; gap: 4px 18px; align-items: center; padding: 10px 2px;
  grid-template-columns: minmax(170px, 1.2fr) minmax(240px, 1.8fr) minmax(150px, 0.8fr) 92px 266px;
  border-bottom: 1px solid var(--rx-line); }
.rx-cron:last-child { border-bottom: 0; }
.rx-cron > div { min-width: 0; overflow-wrap: anywhere; }
.rx-cron .name { font-weight: 600; font-size: 14px; }
.rx-cron .mark { font-size: 11px; font-weight: 600; border: 1px solid currentColor;
  border-radius: 8px; padding: 0 6px; margin-left: 6px; white-space: nowrap;
  display: inline-flex; align-items: center; gap: 3px; vertical-align: 1px; }
.rx-cron .strip { display: flex; height: 18px; }
.rx-cron .strip span { flex: 0 1 10px; min-width: 3px; }
.rx-cron .strip svg { display: block; width: 100%; height: 18px; }
.rx-cron .counts { display: grid; grid-template-columns: auto auto; gap: 0 8px;
  font-variant-numeric: tabular-nums; justify-content: start; }
.rx-cron .acts { display: flex; gap: 4px; flex-wrap: wrap; justify-content: flex-end; }
.rx-cron button { font: inherit; font-size: 12px; color: inherit; background: transparent;
  border: 1px solid var(--rx-line); border-radius: 6px; padding: 3px 9px; cursor: pointer;
  white-space: nowrap; }
.rx-cron button:hover { background: var(--rx-line); }
.rx-cron button:focus-visible { outline: 2px solid #3b82f6; }
@container (max-width: 1000px) {
  .rx-cron { grid-template-columns: minmax(150px, 1.2fr) minmax(150px, 1fr) 92px; }
  .rx-cron .runs { grid-column: 1 / -1; grid-row: 2; }
  .rx-cron .acts { grid-column: 1 / -1; grid-row: 3; }
}
"""


class Click(Protocol):
    """What the browser sends: two names under `detail`."""

    data: dict[str, tuple[str, str]]


class CronList(JSComponent):
    """The list. `rows` is written by the view only."""

    rows: list[Any] = param.List(default=[])  # type: ignore[assignment]  # a param descriptor
    shapes: dict[str, Any] = param.Dict(default=shapes())  # type: ignore[assignment]

    _stylesheets = [CSS, LIST_CSS]  # noqa: RUF012  # panel reads it from the class

    _esm = """
    function part(tag, name, text) {
      const node = document.createElement(tag)
      if (name) node.className = name
      if (text !== undefined) node.textContent = text
      return node
    }
    function drawn(path, attributes) {
      const space = 'http://www.w3.org/2000/svg'
      const svg = document.createElementNS(space, 'svg')
      const line = document.createElementNS(space, 'path')
      for (const [k, v] of Object.entries({...attributes, 'aria-hidden': 'true'}))
        svg.setAttribute(k, v)
      line.setAttribute('d', path)
      svg.append(line)
      return svg
    }
    function picture(shape) {
      return drawn(shape.path, {viewBox: '0 0 10 18', preserveAspectRatio: 'none',
        fill: shape.fill ? shape.colour : 'none', stroke: shape.colour, 'stroke-width': 1.2})
    }
    function icon(path) {
      return drawn(path, {viewBox: '0 0 16 16', width: 10, height: 10, fill: 'none',
        stroke: 'currentColor', 'stroke-width': 2.4, 'stroke-linecap': 'round'})
    }
    function strip(row, shapes) {
      const runs = part('div', 'runs')
      const line = part('div', 'strip')
      line.setAttribute('role', 'img')
      line.setAttribute('aria-label', row.heard)
      for (const [name, said] of row.cells) {
        const cell = part('span')
        cell.title = said
        cell.dataset.outcome = name
        cell.append(picture(shapes[name] || shapes.pending))
        line.append(cell)
      }
      runs.append(row.cells.length ? line : part('div', 'rx-quiet', row.heard))
      return runs
    }
    function line(row, model) {
      const root = part('div', 'rx-cron')
      root.dataset.cron = row.name
      root.setAttribute('role', 'listitem')
      const what = part('div')
      const head = part('div')
      head.append(part('span', 'name', row.name))
      for (const mark of row.marks) {
        const node = part('span', 'mark')
        node.append(icon(mark.icon), document.createTextNode(mark.text))
        node.title = mark.why
        head.append(node)
      }
      what.append(head, part('div', 'rx-quiet', row.words), part('div', 'rx-mono', row.literal))
      const next = part('div', 'next')
      for (const [text, look] of row.next) next.append(part('div', look, text))
      const counts = part('div', 'counts')
      for (const [text, count] of row.counts)
        counts.append(part('span', 'rx-quiet', text), part('span', 'rx-right', count))
      const acts = part('div', 'acts')
      for (const [name, text, why] of row.actions) {
        const button = part('button', '', text)
        button.title = why
        button.dataset.action = name
        button.onclick = () => model.send_event('act', {detail: [name, row.name]})
        acts.append(button)
      }
      root.append(what, strip(row, model.shapes), next, counts, acts)
      return root
    }
    export function render({model, el}) {
      const root = part('div', 'rx-crons')
      root.setAttribute('role', 'list')
      let shown = new Map()
      function draw() {
        const fresh = new Map()
        for (const row of model.rows) {
          const text = JSON.stringify(row)
          const old = shown.get(row.name)
          fresh.set(row.name, old && old.text === text ? old : {text, node: line(row, model)})
        }
        shown = fresh
        root.replaceChildren(...[...fresh.values()].map(each => each.node))
      }
      model.on('rows', draw)
      draw()
      return root
    }
    """

    _acted: Acted | None = None

    def on_action(self, callback: Acted) -> None:
        """Call with (action, cron) when a button is clicked; may be a coroutine function."""
        self._acted = callback

    def set_rows(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Show these rows; nothing is sent where they are the ones shown."""
        fresh = [dict(row) for row in rows]
        if fresh != self.rows:
            self.rows = fresh

    def _handle_act(self, event: Click) -> None:
        name, cron = event.data["detail"]
        if self._acted is not None:
            run_callback(self._acted, name, cron)
