"""Everything this package raises on purpose.

Each error descends from `RxFerrixError` and from the builtin that a caller would expect, carries
what it speaks of as attributes, and says the thing, the rule and the way out. Nobody has to parse
a message.
"""

from collections.abc import Sequence
from pathlib import Path


class RxFerrixError(Exception):
    """The ancestor of every error of this package."""


class FunctionDefinitionError(RxFerrixError, TypeError):
    """A function cannot be registered as it is written."""

    def __init__(self, function: str, problem: str) -> None:
        super().__init__(f"{function}: {problem}")
        self.function = function


class DuplicateNameError(RxFerrixError, ValueError):
    """A function, cron, pool or table of that name is declared already."""

    def __init__(self, what: str, name: str) -> None:
        super().__init__(
            f'the {what} "{name}" is declared twice; names are unique in an app, so rename one '
            "of them"
        )
        self.what = what
        self.name = name


class NotSchedulableError(RxFerrixError, TypeError):
    """Only mutations and actions can be scheduled."""

    def __init__(self, name: str, problem: str = "is a query") -> None:
        super().__init__(f"{name} {problem}; only mutations and actions can be scheduled")
        self.name = name


class ArgumentsError(RxFerrixError, TypeError):
    """The arguments of a call do not fit the function's parameters."""

    def __init__(self, function: str, problem: str, parameter: str | None = None) -> None:
        where = f"{function}({parameter})" if parameter else function
        super().__init__(f"{where}: {problem}")
        self.function = function
        self.parameter = parameter


class ResultError(RxFerrixError, TypeError):
    """A function returned what cannot be carried as its annotated result."""

    def __init__(self, function: str, problem: str) -> None:
        super().__init__(f"{function} returned what cannot be carried: {problem}")
        self.function = function


class RetriesError(RxFerrixError, ValueError):
    """`with_retries` was asked for something it cannot give."""


class InstantError(RxFerrixError, ValueError):
    """A time or a duration that cannot be meant: naive, absurd, non-finite, or negative."""


class CronSyntaxError(RxFerrixError, ValueError):
    """An expression is not a cron of six fields.

    Attributes:
        expr: the expression as given, cut to a readable length.
        field: the field's name (second, minute, hour, day, month, weekday), or None for the whole.
        at: the field's position from 1, or None for the whole.
    """

    def __init__(
        self, expr: str, problem: str, field: str | None = None, at: int | None = None
    ) -> None:
        shown = expr if len(expr) <= 80 else expr[:77] + "..."
        where = f'(field {at} of "{shown}")' if at is not None else f'("{shown}")'
        super().__init__(f"{problem} {where}")
        self.expr = shown
        self.field = field
        self.at = at


class UnknownZoneError(RxFerrixError, ValueError):
    """No time zone of that name in the tzdata package or on this machine."""

    def __init__(self, zone: str, close: Sequence[str] = ()) -> None:
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        super().__init__(
            f'"{zone[:80]}" is not an IANA time zone (they look like "Europe/Bucharest"){hint}'
        )
        self.zone = zone
        self.close = tuple(close)


class UnknownFunctionError(RxFerrixError, LookupError):
    """No function of that name is registered in the app."""

    def __init__(self, name: str, problem: str = "is not registered in this app") -> None:
        super().__init__(f'the function "{name}" {problem}')
        self.name = name


class UnknownJobError(RxFerrixError, LookupError):
    """No job of that id: it never existed, or retention deleted it."""

    def __init__(self, job: object) -> None:
        super().__init__(
            f"there is no job {job!r:.60}: it never existed, or it ended and was deleted after the "
            "keep period"
        )
        self.job = job


class UnknownPoolError(RxFerrixError, LookupError):
    """No workpool of that name is declared."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        names = f" (declared: {', '.join(known)})" if known else ""
        super().__init__(
            f'no workpool "{name}" is declared; declare it with '
            f'app.workpool(Workpool("{name}", max_parallelism=…)){names}'
        )
        self.name = name


class UnknownCronError(RxFerrixError, LookupError):
    """No cron or interval of that name."""

    def __init__(self, name: str, known: Sequence[str] = ()) -> None:
        names = f" (there are: {', '.join(known)})" if known else ""
        super().__init__(f'there is no cron or interval "{name}"{names}')
        self.name = name


class UnknownRowError(RxFerrixError, LookupError):
    """`patch` or `delete` named a row that is not there."""

    def __init__(self, table: str, row: int) -> None:
        super().__init__(f"{table} has no row with id {row}; the mutation wrote nothing")
        self.table = table
        self.row = row


class NotRerunnableError(RxFerrixError, ValueError):
    """Only a job that failed or was canceled can be run again."""

    def __init__(self, job: int, state: str) -> None:
        super().__init__(
            f"job {job} is {state}; only a job that failed or was canceled can be run again"
        )
        self.job = job
        self.state = state


class CronBusyError(RxFerrixError, RuntimeError):
    """The cron's previous run has not ended."""

    def __init__(self, name: str, job: int) -> None:
        super().__init__(
            f'the cron "{name}" is still running as job {job}; wait for it to end, or cancel it'
        )
        self.name = name
        self.job = job


class PermissionDeniedError(RxFerrixError, PermissionError):
    """The identity that called is not allowed to do this."""

    def __init__(self, subject: str, verb: str) -> None:
        super().__init__(
            f"{subject} may not {verb}: that takes an operator, an identity with admin=True"
        )
        self.subject = subject
        self.verb = verb


class ForbiddenStatementError(RxFerrixError, ValueError):
    """`sql` was given a statement that functions may not run."""

    def __init__(self, statement: str, problem: str) -> None:
        shown = " ".join(statement.split())
        shown = shown if len(shown) <= 120 else shown[:117] + "..."
        super().__init__(f"{problem} (in: {shown})")
        self.statement = shown


class ReservedTableError(RxFerrixError, ValueError):
    """A name that begins with an underscore belongs to the scheduler."""

    def __init__(self, table: str) -> None:
        super().__init__(
            f'"{table}" begins with an underscore: such names are the scheduler\'s, and only it '
            "writes "
            "them; choose another name (reading them is allowed)"
        )
        self.table = table


class DatabaseInUseError(RxFerrixError, RuntimeError):
    """Another app holds the database file.

    Attributes:
        path: the database file.
        pid: the holder's process id, or None when it could not be read.
    """

    def __init__(self, path: str | Path, pid: int | None, problem: str) -> None:
        super().__init__(f"{path}: {problem}")
        self.path = Path(path)
        self.pid = pid


class VirtualTimeError(RxFerrixError, RuntimeError):
    """Virtual time cannot go on: an action waits on something real, or the steps have no end."""


class NotRunningError(RxFerrixError, RuntimeError):
    """The app has not been started, or was stopped."""

    def __init__(self, problem: str = "the app is not running") -> None:
        super().__init__(f"{problem}; start it with app.start(), app.run() or `async with app`")


class DeadContextError(RxFerrixError, RuntimeError):
    """A context was used after its function had returned."""

    def __init__(self, function: str) -> None:
        super().__init__(
            f"the context of {function} is dead: its function has returned, and its transaction "
            "has ended"
        )
        self.function = function


class SwallowedDatabaseError(RxFerrixError, RuntimeError):
    """A mutation caught a database error and returned as if nothing had happened."""

    def __init__(self, function: str, cause: BaseException) -> None:
        super().__init__(
            f"{function} caught a database error and returned, but its transaction was already "
            "lost: "
            f"{cause}"
        )
        self.function = function


class StoreUnavailableError(RxFerrixError, RuntimeError):
    """The database cannot be written: the disk is full, or the store is being reopened."""


class ActionCanceled(RxFerrixError):
    """The running action was asked to stop; its context refuses further work."""


class TableError(RxFerrixError, ValueError):
    """A buffered verb named a table or a column that is not there.

    Or a table without a BIGINT id.
    """

    def __init__(self, table: str, problem: str) -> None:
        super().__init__(f'table "{table}": {problem}')
        self.table = table


class BlockingCallError(RxFerrixError, RuntimeError):
    """A blocking verb was called where blocking would stop the engine itself."""

    def __init__(self, verb: str) -> None:
        super().__init__(
            f"{verb} blocks, and was called on the engine's own loop or inside a mutation, "
            "which would "
            "wait for itself; await app.run_query, app.run_mutation or app.run_action instead, "
            "or use ctx"
        )
        self.verb = verb
