"""The states with their counts; a click shows the jobs of that state only, or of several."""

from typing import Any

import param
from panel.custom import JSComponent

from rxferrix_lab.reactive.picture import Counts
from rxferrix_lab.views.labels import number
from rxferrix_lab.views.palette import STATES
from rxferrix_lab.views.stylesheet import CSS

ORDER = ("pending", "running", "canceling", "succeeded", "failed", "canceled")

_CSS = """
.rx-states { display: flex; flex-wrap: wrap; gap: 6px; align-items: center; }
.rx-states button { all: unset; cursor: pointer; border-radius: 12px; opacity: .55; }
.rx-states button[aria-pressed=true], .rx-states.all button { opacity: 1; }
.rx-states button[aria-pressed=true] .rx-chip { box-shadow: 0 0 0 2px var(--rx-tone); }
.rx-states button:focus-visible { outline: 2px solid #3b82f6; }
.rx-states .rx-chip { padding: 3px 10px 3px 8px; }
.rx-states .c { font-variant-numeric: tabular-nums; font-weight: 500; }
"""


class StateFilter(JSComponent):
    """Chips; `chosen` is written by the browser, and none chosen means all."""

    counts: dict[str, str] = param.Dict(default={})  # type: ignore[assignment]  # a param descriptor
    chosen: list[str] = param.List(default=[])  # type: ignore[assignment]
    marks: list[Any] = param.List(default=[])  # type: ignore[assignment]

    _stylesheets = [CSS, _CSS]  # noqa: RUF012  # panel reads it from the class

    _esm = """
    export function render({model}) {
      const root = document.createElement('div')
      root.setAttribute('role', 'group')
      root.setAttribute('aria-label', 'States')
      const draw = () => {
        root.className = 'rx-states' + (model.chosen.length ? '' : ' all')
        root.replaceChildren(...model.marks.map(([name, text, path, colour]) => {
          const button = document.createElement('button')
          const chip = document.createElement('span')
          chip.className = 'rx-chip'
          chip.style.setProperty('--rx-tone', colour)
          chip.innerHTML = '<svg viewBox="0 0 16 16" width="12" height="12" fill="none" ' +
            'stroke="currentColor" stroke-width="2" aria-hidden="true">' +
            '<path d="' + path + '"/></svg>'
          const word = document.createElement('span')
          word.textContent = text
          const count = document.createElement('span')
          count.className = 'c'
          count.textContent = model.counts[name] || '0'
          chip.append(word, count)
          button.append(chip)
          button.setAttribute('aria-pressed', model.chosen.includes(name))
          button.onclick = () => {
            const others = model.chosen.filter(other => other !== name)
            model.chosen = model.chosen.includes(name) ? others : [...others, name]
          }
          return button
        }))
      }
      model.on(['counts', 'chosen'], draw)
      draw()
      return root
    }
    """

    def __init__(self, **settings: object) -> None:
        marks = [
            [name, STATES[name].text, STATES[name].path, STATES[name].colour] for name in ORDER
        ]
        super().__init__(marks=marks, **settings)  # type: ignore[no-untyped-call]  # the constructor is panel's

    def show_counts(self, counts: Counts) -> None:
        """Show these numbers; nothing is sent where they are the ones shown."""
        fresh = {name: number(getattr(counts, name)) for name in ORDER}
        if fresh != self.counts:
            self.counts = fresh
