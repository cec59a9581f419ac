"""The way from an app up to its dashboard.

This floor may not import the pages, so the package itself hands their server in when it is
imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from rxferrix_lab.domain.given import checked_whole

if TYPE_CHECKING:
    from rxferrix_lab.app.app import RxFerrix

HIGHEST_PORT = 65_535


class Served(Protocol):
    """A dashboard that answers."""

    @property
    def url(self) -> str:
        """Where it answers."""
        ...

    def stop(self) -> None:
        """Answer no longer; the app goes on."""
        ...


Serve = Callable[["RxFerrix", int, str], Served]
_handed_in: list[Serve] = []


def hand_in(serve: Serve) -> None:
    """Serve dashboards in this way from now on."""
    _handed_in[:] = [serve]


def served(app: RxFerrix, port: int, address: str) -> Served:
    """The dashboard of an app, in a thread of its own.

    Raises:
        ValueError: for a port outside 0 to 65,535.
        OSError: where the port is taken.
    """
    if checked_whole(port, "a port", least=0) > HIGHEST_PORT:
        raise ValueError(f"a port is a whole number from 0 to {HIGHEST_PORT:,}, not {port}")
    [serve] = _handed_in
    return serve(app, port, address)
