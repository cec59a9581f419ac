"""`%%query`, `%%mutation`, `%%action`: a cell becomes a registered function, and may be scheduled.

Running a cell again replaces the function. Its schedule is declared under the function's name, so
it is the same schedule and nothing is scheduled twice.
"""

from __future__ import annotations

import shlex
import threading
from collections.abc import MutableMapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from rxferrix_lab.app.contexts import MutationCtx
from rxferrix_lab.app.functions import Registered, Schedulable
from rxferrix_lab.app.signature import Signature
from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.workpool import check_retries
from rxferrix_lab.errors import ArgumentsError, RxFerrixError, UnknownPoolError
from rxferrix_lab.notebook.cell_function import Header, SourceCache, build_function, read_header
from rxferrix_lab.notebook.line_parser import LineParser
from rxferrix_lab.notebook.period import period
from rxferrix_lab.views.labels import ago, full_instant

if TYPE_CHECKING:
    from rxferrix_lab.app.app import RxFerrix
    from rxferrix_lab.app.job_handle import JobHandle
    from rxferrix_lab.notebook.session import Session

FIRST_RUN_WAIT_S = 0.05
FIRST_RUN_LOOKS = 40
ENQUEUES = " (enqueue)"


@dataclass(frozen=True, slots=True)
class CellOptions:
    """What follows the signature of a cell."""

    pool: str | None = None
    retries: int | None = None
    cron: str | None = None
    zone: str = "UTC"
    every: timedelta | None = None
    is_run_now: bool = False

    @property
    def is_scheduled(self) -> bool:
        """Whether the function runs by itself."""
        return self.cron is not None or self.every is not None


@dataclass(frozen=True, slots=True)
class Declared:
    """What a cell has declared: a line to print, and a job to show where there is one."""

    text: str
    handle: JobHandle | None = None


class CellMagics:
    """Turns cells into functions of the session's app."""

    def __init__(
        self,
        session: Session,
        namespace: MutableMapping[str, Any],
        cache: SourceCache,
        options: MutableMapping[str, CellOptions],
    ) -> None:
        self._session = session
        self._namespace = namespace
        self._cache = cache
        self._options = options
        self._jobs: dict[str, JobId] = {}  # the latest that `--now` made, by function

    def declare(self, kind: str, line: str, body: str) -> Declared:
        """Register the cell's body under its name, and schedule it as its options say.

        Raises:
            RxFerrixError: for a cell that cannot be meant; nothing was registered then.
        """
        app = self._session.running_app
        header = read_header(line, kind)
        options = read_options(kind, header.options)
        if options.pool is not None and options.pool not in app.registry.pools:
            raise UnknownPoolError(options.pool, sorted(app.registry.pools))
        function = build_function(header, kind, body, dict_of(self._namespace), self._cache)
        if options.is_scheduled or options.is_run_now:
            _check_no_arguments(Signature.of(function, name=header.name))
        registered: Registered[..., Any] = getattr(app, kind)(function)
        self._namespace[header.name] = registered
        before = self._options.get(header.name)
        self._options[header.name] = options
        text = f"{kind} {header.signature}"
        if not isinstance(registered, Schedulable):
            return Declared(f"{text}; call it with app.call({header.name}, …)")
        if not options.is_scheduled:
            return self._unscheduled(app, header, registered, options, before, text)
        return self._scheduled(app, header.name, registered, options, text)

    # --- without a schedule ---------------------------------------------------------------------
    def _unscheduled(  # the parts of a cell
        self,
        app: RxFerrix,
        header: Header,
        function: Schedulable[..., Any],
        options: CellOptions,
        before: CellOptions | None,
        text: str,
    ) -> Declared:
        if before is not None and before.is_scheduled and header.name in app.registry.crons:
            app.remove_cron(header.name)
            text += "; its schedule was removed"
        if not options.is_run_now:
            return Declared(f"{text}; schedule it with %rxferrix run {header.name}(…)")
        job = self._jobs.get(header.name)
        if job is not None and app.job(job).finished_at is None:
            return Declared(
                f"{text}; its job has not ended, so no second one was made", app.handle(job)
            )
        job = enqueue(app.sync_scheduler, function, options)
        self._jobs[header.name] = job
        return Declared(text, app.handle(job))

    # --- with a schedule ------------------------------------------------------------------------
    def _scheduled(
        self,
        app: RxFerrix,
        name: str,
        function: Schedulable[..., Any],
        options: CellOptions,
        text: str,
    ) -> Declared:
        known = len(app.jobs(cron=name, limit=1))
        target = _enqueuing(app, function, options)
        if options.every is not None:
            app.interval(name, options.every, target)
        elif options.cron is not None:
            app.cron_tz(name, options.cron, options.zone, target)
        if options.every is not None and not known:
            first = _first_job(app, name)
            if first is not None:
                return Declared(f"{text}; {_what_comes(app, name, options)}", app.handle(first))
        return Declared(f"{text}; {_what_comes(app, name, options)}")


def enqueue(scheduler: Any, function: Schedulable[..., Any], options: CellOptions) -> JobId:  # noqa: ANN401  # a mutation's scheduler or a blocking one
    """Make a job in the pool and with the retries of a cell."""
    if options.retries is not None:
        scheduler = scheduler.with_retries(options.retries)
    if options.pool is None:
        job: JobId = scheduler.run_after(timedelta(0), function)
        return job
    pooled: JobId = scheduler.pool(options.pool).enqueue(function)
    return pooled


def _enqueuing(
    app: RxFerrix, function: Schedulable[..., Any], options: CellOptions
) -> Schedulable[..., Any]:
    """What the schedule runs: the function, or a mutation that puts it into its pool."""
    if options.pool is None and options.retries is None:
        return function

    def enqueue_it(ctx: MutationCtx) -> None:
        enqueue(ctx.scheduler, function, options)

    return app.mutation(name=function.name + ENQUEUES, internal=True)(enqueue_it)


def _check_no_arguments(signature: Signature) -> None:
    try:
        signature.encode((), {})
    except ArgumentsError as error:
        raise RxFerrixError(
            f"{error}; a cell that runs by itself passes no argument: give each parameter a default"
        ) from error


def _first_job(app: RxFerrix, cron: str) -> JobId | None:
    """The first run of an interval that was just declared, which begins at once."""
    waiting = threading.Event()
    for _ in range(FIRST_RUN_LOOKS):
        found = app.jobs(cron=cron, limit=1)
        if len(found):
            return JobId(int(found["id"].iloc[0]))
        waiting.wait(FIRST_RUN_WAIT_S)
    return None


def _what_comes(app: RxFerrix, name: str, options: CellOptions) -> str:
    now = app.clock.now()
    schedule = app.registry.crons[name].record(now, None).schedule()
    following = schedule.next_instant(now)
    if options.every is not None or following is None:
        return schedule.words()
    next_run = f"next run {full_instant(following, options.zone)}, {ago(following, now)}"
    return f"{schedule.words()}, {next_run}"


# --- the options of a cell ----------------------------------------------------------------------
def option_parser(kind: str) -> LineParser:
    """What a cell of this kind takes behind its signature."""
    parser = LineParser(prog=f"%%{kind} NAME(PARAMETERS) -> RESULT", add_help=False)
    if kind == "query":
        return parser
    if kind == "action":
        parser.add_argument("--pool", help="a declared workpool")
        parser.add_argument("--retries", type=int, help="after the first attempt")
    parser.add_argument("--cron", metavar="EXPR", help='six fields: "0 0 9 * * *"')
    parser.add_argument("--zone", help="of --cron, such as Europe/Bucharest; UTC if not given")
    parser.add_argument("--every", metavar="DURATION", help="30s, 5m, 2h, 1d")
    parser.add_argument("--now", action="store_true", help="run it once now and show the job")
    return parser


def read_options(kind: str, text: str) -> CellOptions:
    """The options.

    Raises:
        RxFerrixError, UsageError: for options that cannot be meant together.
    """
    given = vars(option_parser(kind).parse_args(shlex.split(text)))
    cron, every, zone = given.get("cron"), given.get("every"), given.get("zone")
    if cron is not None and every is not None:
        raise RxFerrixError("--cron and --every are two schedules; give one of them")
    if given.get("now") and (cron is not None or every is not None):
        raise RxFerrixError(
            "--now is for a function without a schedule; run a scheduled one with %rxferrix run-now"
        )
    if zone is not None and cron is None:
        raise RxFerrixError("--zone is the zone of a --cron, and there is none")
    if cron is not None:
        CronSchedule(cron, zone or "UTC")
    retries = given.get("retries")
    if retries is not None:
        check_retries(retries)
    return CellOptions(
        given.get("pool"),
        retries,
        cron,
        zone or "UTC",
        period(every) if every is not None else None,
        bool(given.get("now")),
    )


def dict_of(namespace: MutableMapping[str, Any]) -> dict[str, Any]:
    """The namespace itself, which a function's globals have to be."""
    if not isinstance(namespace, dict):
        raise TypeError("the notebook's namespace is no dict")
    return namespace
