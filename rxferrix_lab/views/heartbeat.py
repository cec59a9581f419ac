"""Tells the browser that the picture is alive, and brings the page back after the server was gone.

The browser itself notices that no beat came for five seconds. A lost connection is answered by
asking for the page's own address until it is there again, and then loading it; the rest is in the
URL.
"""

import param
from bokeh.document import Document
from bokeh.models import CustomJS
from panel.custom import JSComponent

from rxferrix_lab.reactive.picture import Health

STALE_AFTER_MS = 5000

_LOST = """
if (!window.rxferrixWaits) {
  window.rxferrixWaits = true
  window.dispatchEvent(new Event('rxferrix-lost'))
  const ask = async () => {
    try {
      const answer = await fetch(window.location.href, {cache: 'no-store'})
      if (answer.ok) { window.location.reload(); return }
    } catch (error) { /* not there yet */ }
    setTimeout(ask, 700)
  }
  setTimeout(ask, 700)
}
"""


class Heartbeat(JSComponent):
    """An invisible pulse; a banner where it stops."""

    problem: str = param.String(default="")  # type: ignore[assignment]  # a param descriptor

    _esm = """
    export function render({model, el}) {
      const banner = document.createElement('div')
      banner.setAttribute('role', 'alert')
      Object.assign(banner.style, {display: 'none', position: 'fixed', zIndex: 5000, left: '50%',
        bottom: '18px', transform: 'translateX(-50%)', background: '#b45309', color: '#fff',
        padding: '9px 16px', borderRadius: '8px', font: '13px Roboto, Arial, sans-serif',
        boxShadow: '0 4px 18px rgba(0,0,0,.35)', maxWidth: '90vw'})
      let last = Date.now(), isLost = false
      const tell = text => {
        banner.textContent = text
        banner.style.display = text ? 'block' : 'none'
      }
      const look = () => {
        if (isLost) return tell('The server is gone. This page comes back when it returns.')
        if (model.problem) return tell(model.problem)
        const quiet = Date.now() - last
        const isStale = quiet > STALE
        const time = Math.round(quiet / 1000) + ' s.'
        tell(isStale ? 'Stale: nothing was heard of the app for ' + time : '')
      }
      model.on('msg:custom', () => { last = Date.now(); look() })
      model.on('problem', look)
      const lost = () => { isLost = true; look() }
      window.addEventListener('rxferrix-lost', lost)
      const timer = setInterval(look, 500)
      model.on('remove', () => {
        clearInterval(timer)
        window.removeEventListener('rxferrix-lost', lost)
      })
      return banner
    }
    """.replace("STALE", str(STALE_AFTER_MS))

    def pulse(self, health: Health) -> None:
        """Say that the picture is of now, or what is wrong with it or with the app."""
        problem = banner_of(health)
        if problem != self.problem:
            self.problem = problem
        self._send_msg("beat")


def banner_of(health: Health) -> str:
    """What everybody must know at once; empty where all is well."""
    if health.trouble:
        return f"The database cannot be written: {health.trouble}"
    return f"Stale: {health.problem}" if health.problem else ""


def come_back(document: Document) -> None:
    """Let the browser load the page again once a lost server has returned."""
    document.js_on_event("connection_lost", CustomJS(code=_LOST))
