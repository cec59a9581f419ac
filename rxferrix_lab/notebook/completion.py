"""What Tab offers behind `%rxferrix`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Protocol

from rxferrix_lab.domain.zone import zone_names
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.notebook.commands import STATES

if TYPE_CHECKING:
    from rxferrix_lab.app.app import RxFerrix
    from rxferrix_lab.notebook.session import Session

OPTIONS = {
    "jobs": ("--function", "--pool", "--cron", "--limit"),
    "log": ("--limit",),
    "run": ("--after",),
    "timeline": ("--zone", "--days"),
    "lab": ("--days",),
}
COMMANDS = (
    *("start", "stop", "status", "jobs", "job", "crons", "pools", "log", "sql", "run", "cancel"),
    *("run-now", "timeline", "explain", "lab"),
)


class CompletionEvent(Protocol):
    """What IPython hands to a completer."""

    line: str
    symbol: str


class Completer:
    """Offers subcommands, then what the subcommand takes."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __call__(self, shell: object, event: CompletionEvent) -> list[str]:
        """The words that can follow."""
        del shell
        words = event.line.split()
        at = len(words) - (0 if event.line[-1:].isspace() else 1)
        if at <= 1:
            offered: Iterable[str] = (*COMMANDS, "--help")
        else:
            offered = self._for(words[1], words[at - 1])
        return [word for word in offered if word.startswith(event.symbol)]

    def _for(self, command: str, before: str) -> Iterable[str]:
        by_option: dict[str, Callable[[], Iterable[str]]] = {
            "--zone": zone_names,
            "--function": lambda: self._names(lambda app: app.registry.functions),
            "--pool": lambda: self._names(lambda app: app.registry.pools),
            "--cron": lambda: self._names(lambda app: app.registry.crons),
        }
        if before in by_option:
            return by_option[before]()
        by_command: dict[str, Callable[[], Iterable[str]]] = {
            "jobs": lambda: STATES,
            "job": lambda: self._names(_newest),
            "cancel": lambda: self._names(_newest),
            "run-now": by_option["--cron"],
            "run": by_option["--function"],
            "timeline": by_option["--cron"],
            "explain": zone_names,
        }
        found = by_command.get(command)
        offered = found() if found is not None else ()
        return [*offered, *OPTIONS.get(command, ()), "--help"]

    def _names(self, of: Callable[[RxFerrix], Iterable[str]]) -> list[str]:
        try:
            return sorted(of(self._session.running_app))
        except RxFerrixError:  # no app, or it is stopped: nothing to offer
            return []


def _newest(app: RxFerrix) -> Iterable[str]:
    return (str(job) for job in app.jobs(limit=20)["id"])
