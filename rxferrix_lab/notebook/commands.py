"""The subcommands of `%rxferrix`: what each takes, and what it does."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Callable, MutableMapping
from datetime import UTC
from typing import TYPE_CHECKING, Any

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.errors import RxFerrixError, UnknownFunctionError
from rxferrix_lab.notebook.cell_magics import CellOptions
from rxferrix_lab.notebook.line_parser import LineParser
from rxferrix_lab.notebook.period import period
from rxferrix_lab.notebook.table import Table
from rxferrix_lab.notebook.tables import crons_table, pools_table, status_table, timeline_table

if TYPE_CHECKING:
    from rxferrix_lab.app.app import RxFerrix
    from rxferrix_lab.notebook.session import Session

STATES = ("pending", "running", "canceling", "succeeded", "failed", "canceled")
JOB_COLUMNS = (
    *("id", "function", "args", "state", "pool", "cron", "attempt", "scheduled_for"),
    *("started_at", "finished_at", "result", "error"),
)
FIELDS = 6  # of a cron expression
_PARAMETER = re.compile(r"\$([A-Za-z_]\w*)")
Given = argparse.Namespace
Parsers = Any  # argparse's own class for subparsers has a private name


class Commands:
    """Each public method is a subcommand. What it returns is shown; text is printed."""

    def __init__(
        self,
        session: Session,
        namespace: MutableMapping[str, Any],
        options: MutableMapping[str, CellOptions],
    ) -> None:
        self._session = session
        self._namespace = namespace
        self._options = options  # of the functions that cells declared
        self.parser = _parser()

    @property
    def _app(self) -> RxFerrix:
        return self._session.running_app

    def run(self, words: list[str], rest: str) -> object:
        """Run a command line: its words, and the text behind the first of them as it was typed."""
        if words[:1] == ["sql"]:
            return self.sql(rest)
        if words[:1] == ["run"]:
            return self.run_function(rest)
        given = self.parser.parse_args(words)
        command: Callable[[Given], object] = getattr(self, given.command.replace("-", "_"))
        return command(given)

    # --- the app --------------------------------------------------------------------------------
    def start(self, given: Given) -> str:
        """Start the app."""
        return self._session.start(given.file)

    def stop(self, given: Given) -> str:
        """Stop it cleanly."""
        del given
        return self._session.stop()

    def status(self, given: Given) -> object:
        """How it is."""
        del given
        return status_table(self._app)

    # --- looking --------------------------------------------------------------------------------
    def jobs(self, given: Given) -> object:
        """The newest jobs that match, as a data frame."""
        frame = self._app.jobs(
            state=given.state or None,
            function=given.function,
            pool=given.pool,
            cron=given.cron,
            limit=given.limit,
        )
        if frame.empty:
            return Table("jobs", (), (), "no job matches")
        return frame[list(JOB_COLUMNS)].set_index("id")

    def job(self, given: Given) -> object:
        """One job, live."""
        return self._app.handle(JobId(given.id))

    def crons(self, given: Given) -> object:
        """The crons and intervals."""
        del given
        model = self._app.model()
        return crons_table(model.crons, model.now)

    def pools(self, given: Given) -> object:
        """The pools."""
        del given
        return pools_table(self._app.model().pools)

    def log(self, given: Given) -> object:
        """The newest rows of the execution log, as a data frame."""
        import pandas as pd  # loads slowly

        rows = self._app.model().log[: given.limit]
        columns = ("finished_at", "outcome", "function", "job", "attempt", "caller", "detail")
        if not rows:
            return Table("log", (), (), "nothing has run yet")
        records = [
            {"id": row.id} | {name: getattr(row.entry, name) for name in columns} for row in rows
        ]
        return pd.DataFrame.from_records(records).set_index("id")

    def sql(self, query: str) -> object:
        """Rows of a SELECT as a data frame; `$name` is a variable of the notebook."""
        if not query.strip():
            raise RxFerrixError("%rxferrix sql takes a query: %rxferrix sql SELECT * FROM notes")
        names = set(_PARAMETER.findall(query))
        missing = sorted(names - self._namespace.keys())
        if missing:
            raise RxFerrixError(
                f"the query names ${missing[0]}, and there is no such variable here"
            )
        return self._app.sql(query, **{name: self._namespace[name] for name in names})

    # --- doing ----------------------------------------------------------------------------------
    def cancel(self, given: Given) -> str:
        """Cancel a job."""
        if self._app.cancel(JobId(given.id)):
            return f"job {given.id} is canceled, or asked to stop"
        return f"job {given.id} had ended already, or is being canceled"

    def run_now(self, given: Given) -> object:
        """Run a cron at once."""
        return self._app.handle(self._app.run_cron_now(given.cron))

    def run_function(self, line: str) -> object:
        """Schedule a call: `send("ann")`, or `--after 10s send("ann")`."""
        app, delay = self._app, period("0.001ms") * 0
        found = re.match(r"\s*--after\s+(\S+)\s+", line)
        if found is not None:
            delay, line = period(found.group(1)), line[found.end() :]
        name, args, kwargs = _call_of(line, self._namespace)
        function: Any = app.registry.functions.get(name)
        if function is None:
            raise UnknownFunctionError(name)
        options = self._options.get(name, CellOptions())
        scheduler = app.sync_scheduler
        if options.retries is not None:
            scheduler = scheduler.with_retries(options.retries)
        if options.pool is None:
            job = scheduler.run_after(delay, function, *args, **kwargs)
        else:
            job = scheduler.pool(options.pool).enqueue_after(delay, function, *args, **kwargs)
        return app.handle(job)

    # --- time -----------------------------------------------------------------------------------
    def timeline(self, given: Given) -> object:
        """The coming runs of a cron, of an expression, or of all crons."""
        words: list[str] = given.what
        now = self._app.clock.now()
        what = " ".join(words)
        pictures = {picture.record.name: picture for picture in self._app.model().crons}
        if what in pictures:
            record = pictures[what].record
            zone = given.zone or record.zone or "UTC"
            return timeline_table(what, record.schedule(), zone, now, given.days)
        if words:
            zone = given.zone or "UTC"
            return timeline_table(what, CronSchedule(what, zone), zone, now, given.days)
        coming = sorted(
            (run, name, picture.words)
            for name, picture in pictures.items()
            for run in picture.next_runs
        )
        rows = [(f"{run.astimezone(UTC):%a %d %b %H:%M:%S}", *rest) for run, *rest in coming[:30]]
        hint = "no cron yet; %rxferrix timeline takes an expression too"
        return Table("what comes", ("in UTC", "cron", "schedule"), rows, hint)

    def explain(self, given: Given) -> str:
        """What the clock changes of a year do to an expression."""
        words: list[str] = given.what
        year = self._session.app.clock.now().year
        if len(words) > 1 and re.fullmatch(r"\d{4}", words[-1]):
            year = int(words.pop())
        zone = words.pop() if len(words) > 1 and not _is_field(words[-1], words) else "UTC"
        return CronSchedule(" ".join(words), zone).explain(year)

    def lab(self, given: Given) -> object:
        """A slider that steps virtual time."""
        return self._app.show.lab(days=given.days)


def _state(word: str) -> str:
    if word not in STATES:
        raise argparse.ArgumentTypeError(f"{word} is no state; the states are {', '.join(STATES)}")
    return word


def _is_field(word: str, words: list[str]) -> bool:
    """Whether the last word belongs to the expression: a zone follows six fields, or a quote."""
    return len(" ".join(words[:-1]).split()) < FIELDS and "/" not in word


def _call_of(
    line: str, namespace: MutableMapping[str, Any]
) -> tuple[str, tuple[Any, ...], dict[str, Any]]:
    """The function's name and the arguments of a call as it was typed."""
    try:
        call = ast.parse(line.strip(), mode="eval").body
    except SyntaxError as error:
        raise RxFerrixError(f'not a call: "{line.strip():.60}" ({error.msg})') from None
    if isinstance(call, ast.Name):
        return call.id, (), {}
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        raise RxFerrixError(
            f'write a call of a function: %rxferrix run send("ann"), not "{line:.60}"'
        )
    name, call.func.id = call.func.id, "_rxferrix_arguments"
    code = compile(ast.fix_missing_locations(ast.Expression(call)), "<%rxferrix run>", "eval")
    args, kwargs = eval(code, dict(namespace), {"_rxferrix_arguments": _caught})  # the user's line
    return name, args, kwargs


def _caught(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:  # noqa: ANN401  # any call
    """The arguments of a call."""
    return args, kwargs


def _parser() -> LineParser:
    parser = LineParser(
        prog="%rxferrix",
        description="Durable scheduled work in this notebook.",
        epilog="Write functions with the cell magics %%query, %%mutation and %%action.",
    )
    parsers: Parsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, does: str) -> LineParser:
        made: LineParser = parsers.add_parser(name, help=does, description=does)
        return made

    start = command("start", "start the app, kept in the notebook's own file or the one named")
    start.add_argument("file", nargs="?", help="the database file")
    command("stop", "stop it cleanly")
    command("status", "how it is")
    _add_looking(command)
    run = command("run", 'schedule a call now, or later: run --after 10s send("ann")')
    run.add_argument("--after", metavar="DURATION", help="30s, 5m, 2h, 1d")
    run.add_argument("call")
    cancel = command("cancel", "cancel a job")
    cancel.add_argument("id", type=int)
    command("run-now", "run a cron at once, without moving its next run").add_argument("cron")
    _add_time(command)
    return parser


def _add_looking(command: Callable[[str, str], LineParser]) -> None:
    jobs = command("jobs", "the newest jobs that match, as a data frame")
    jobs.add_argument("state", nargs="*", type=_state, help=", ".join(STATES))
    for name in ("function", "pool", "cron"):
        jobs.add_argument(f"--{name}")
    jobs.add_argument("--limit", type=int, default=50)
    command("job", "one job, live until it ends").add_argument("id", type=int)
    command("crons", "the crons and intervals")
    command("pools", "the pools")
    log = command("log", "what ran, what was skipped and why, what operators did")
    log.add_argument("--limit", type=int, default=50)
    sql = command("sql", "rows of a SELECT as a data frame; $name is a variable of the notebook")
    sql.add_argument("query")


def _add_time(command: Callable[[str, str], LineParser]) -> None:
    timeline = command("timeline", "the coming runs of a cron, of an expression, or of all crons")
    timeline.add_argument("what", nargs="*", metavar="CRON|EXPR")
    timeline.add_argument("--zone", help="such as Europe/Bucharest")
    timeline.add_argument("--days", type=float, default=7)
    explain = command("explain", "what the clock changes of a year do to an expression")
    explain.add_argument("what", nargs="+", metavar="EXPR ZONE [YEAR]")
    lab = command("lab", "a slider that steps the time of an app on a VirtualClock")
    lab.add_argument("--days", type=float, default=7, help="how far the slider reaches")
