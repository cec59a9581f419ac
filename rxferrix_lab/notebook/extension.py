"""`%load_ext rxferrix_lab`: the app, the magics, completions, and how values show themselves."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any
from weakref import WeakKeyDictionary

from IPython.core.error import UsageError
from IPython.core.magic import no_var_expand

from rxferrix_lab.app.functions import Action, Mutation, Query, Registered
from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.occurrence import Occurrence
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.notebook.cell_magics import CellMagics, CellOptions, Declared
from rxferrix_lab.notebook.commands import Commands
from rxferrix_lab.notebook.completion import Completer
from rxferrix_lab.notebook.job_card import error_html, error_text
from rxferrix_lab.notebook.line_parser import HelpShown
from rxferrix_lab.notebook.live_outputs import show_handle
from rxferrix_lab.notebook.session import Session
from rxferrix_lab.notebook.tables import occurrence_text, pool_text, schedule_table

Shell = Any  # IPython's own class is typed in part
LINE_NAMES = ("rxferrix", "rx")
KINDS = ("query", "mutation", "action")


class Toolkit:
    """All that the extension puts into one shell."""

    def __init__(self, shell: Shell) -> None:
        namespace: dict[str, Any] = shell.user_ns
        options: dict[str, CellOptions] = {}
        self.session = Session(namespace)
        self._commands = Commands(self.session, namespace, options)
        self._cells = CellMagics(self.session, namespace, shell.compile.cache, options)

    def line_magic(self) -> Callable[..., object]:
        """The magic with all its subcommands."""

        def magic(line: str, cell: str | None = None) -> object:
            """Durable scheduled work in this notebook: %rxferrix --help lists what there is."""
            return self._answer(line, cell)

        return magic

    def _answer(self, line: str, cell: str | None) -> object:
        with _errors_in_one_line():
            words = _words(line)
            rest = line.strip()[len(words[0]) :] if words else ""
            if cell is not None:
                rest = f"{rest}\n{cell}"
            shown = self._commands.run(words or ["--help"], rest)
            if isinstance(shown, str):
                print(shown)  # noqa: T201  # what a magic is for
                return None
            return shown
        return None

    def cell_magic(self, kind: str) -> Callable[[str, str], None]:
        """The magic of one kind of function."""

        def magic(line: str, cell: str) -> None:
            with _errors_in_one_line():
                _show(self._cells.declare(kind, line, cell))

        magic.__doc__ = (
            f"The cell's body becomes a {kind}: %%{kind} NAME(PARAMETERS) -> RESULT [options]"
        )
        return magic


_toolkits: WeakKeyDictionary[Shell, Toolkit] = WeakKeyDictionary()


def load(shell: Shell) -> None:
    """Put the toolkit into a shell, and start the app."""
    toolkit = _toolkits.setdefault(shell, Toolkit(shell))
    for name in LINE_NAMES:
        magic = no_var_expand(toolkit.line_magic())
        shell.register_magic_function(magic, "line_cell", name)
        completer = Completer(toolkit.session)
        shell.set_hook("complete_command", completer, str_key=f"%{name}")
    for kind in KINDS:
        shell.register_magic_function(no_var_expand(toolkit.cell_magic(kind)), "cell", kind)
    _teach_to_show(shell)
    with _errors_in_one_line():
        print(toolkit.session.start())  # noqa: T201  # where the app is kept is worth knowing


def unload(shell: Shell) -> None:
    """Take the magics out. The app in the namespace is the user's, and goes on."""
    for name in LINE_NAMES:
        shell.magics_manager.magics["line"].pop(name, None)
        shell.magics_manager.magics["cell"].pop(name, None)
    for kind in KINDS:
        shell.magics_manager.magics["cell"].pop(kind, None)


def _show(declared: Declared) -> None:
    print(declared.text)  # noqa: T201  # what a magic is for
    if declared.handle is not None:
        show_handle(declared.handle)


def _words(line: str) -> list[str]:
    """The line's words. Text that is taken as it was typed may have quotes of another language."""
    first = line.split()[:1]
    if first in (["sql"], ["run"]) and line.split()[1:2] not in (["-h"], ["--help"]):
        return first
    try:
        return shlex.split(line)
    except ValueError as error:
        raise RxFerrixError(f"the line cannot be read: {error}") from None


@contextmanager
def _errors_in_one_line() -> Generator[None]:
    """What a user can put right is told in a line; a traceback of ours would hide it."""
    try:
        yield
    except HelpShown:
        pass
    except RxFerrixError as error:
        raise UsageError(str(error)) from None


def _teach_to_show(shell: Shell) -> None:
    """How values that know nothing of notebooks are shown in one."""
    formatters = shell.display_formatter.formatters
    plain, html = formatters["text/plain"], formatters["text/html"]

    def text(kind: type, of: Callable[[Any], str]) -> None:
        def show(value: Any, printer: Any, _cycle: object) -> None:  # noqa: ANN401  # IPython's own
            printer.text(of(value))

        plain.for_type(kind, show)

    text(Occurrence, occurrence_text)
    text(Workpool, pool_text)
    text(JobError, error_text)
    text(CronSchedule, lambda schedule: f"{schedule.expr} {schedule.zone}: {schedule.words()}")
    for kind in (Query, Mutation, Action):
        text(kind, _function_text)
    html.for_type(JobError, error_html)
    html.for_type(CronSchedule, _schedule_html)


def _schedule_html(schedule: CronSchedule) -> str:
    return schedule_table(schedule).html()


def _function_text(function: Registered[..., Any]) -> str:
    names = ", ".join(parameter.name for parameter in function.signature.parameters)
    return f"{function.kind} {function.name}({names})"
