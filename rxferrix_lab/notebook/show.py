"""`app.show`: the dashboard's views, each alone in a cell and live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython

from rxferrix_lab.errors import VirtualTimeError
from rxferrix_lab.views import clock_changes, crons, jobs, pools, timeline
from rxferrix_lab.views.in_cell import View, in_cell
from rxferrix_lab.views.time_slider import slider

if TYPE_CHECKING:
    from datetime import datetime

    from panel.viewable import Viewable

    from rxferrix_lab.app.app import RxFerrix
    from rxferrix_lab.app.serving import Served


class Show:
    """Live views of one app. `zone` is the one in which instants are shown."""

    def __init__(self, app: RxFerrix) -> None:
        self._app = app

    def jobs(self, *, zone: str = "UTC") -> Viewable:
        """The jobs."""
        return self._in_cell(jobs.view, zone)

    def crons(self, *, zone: str = "UTC") -> Viewable:
        """The crons and intervals: what each did, and when it runs next."""
        return self._in_cell(crons.view, zone)

    def timeline(self, *, zone: str = "UTC", days: float = 7.0) -> Viewable:
        """The coming runs, on the wall clock of the zone."""
        return self._in_cell(
            lambda model, controls: timeline.view(model, controls, days=days), zone
        )

    def clock_changes(self, *, zone: str = "UTC") -> Viewable:
        """What the next clock changes do to the crons."""
        return self._in_cell(clock_changes.view, zone)

    def pools(self, *, zone: str = "UTC") -> Viewable:
        """The workpools: slots in use, and what waits for one."""
        return self._in_cell(pools.view, zone)

    def dashboard(self, *, port: int | None = None) -> Served:
        """The whole dashboard of this app, served to this machine until it or the app is stopped.

        Args:
            port: a free one where it is not given.
        """
        from rxferrix_lab.views.serving import free_port  # loads all pages

        return self._app.serve(port if port is not None else free_port())

    def lab(self, *, zone: str | None = None, days: float = 7.0) -> Viewable:
        """A slider that steps the time of an app on a `VirtualClock`.

        Args:
            zone: that of the first cron where it is not given.
            days: how far it reaches.

        Raises:
            VirtualTimeError: on the machine's clock.
        """
        model = self._app.model()
        if not model.is_virtual:
            raise VirtualTimeError(
                "this app runs on the machine's clock, which nobody steps; make another one with "
                "clock=VirtualClock(start) for the slider"
            )
        zones = [cron.record.zone for cron in model.crons if cron.record.zone]
        return self._in_cell(
            lambda model, controls: slider(model, controls, self._move, days),
            zone or (zones[0] if zones else "UTC"),
        )

    def _move(self, until: datetime) -> datetime:
        self._app.advance_to(until)
        return self._app.clock.now()

    def _in_cell(self, view: View, zone: str) -> Viewable:
        kernel: Any = getattr(get_ipython(), "kernel", None)
        soon = kernel.io_loop.add_callback if kernel is not None else None
        return in_cell(view, self._app.model(), zone, soon)
