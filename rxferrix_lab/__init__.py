"""Durable scheduled work in one DuckDB file, exactly once and in plain sight.

Importing the package loads neither panel nor pandas; what needs them loads when it is first used.
"""

import sys
from typing import TYPE_CHECKING

if sys.platform not in ("linux", "darwin"):
    raise ImportError(
        f"rxferrix_lab runs on Linux and macOS, not on {sys.platform}: its file lock needs flock; "
        "on Windows use WSL"
    )

from rxferrix_lab.app import serving
from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx, QueryCtx, SyncActionCtx
from rxferrix_lab.app.database import Database
from rxferrix_lab.app.functions import Action, Mutation, Query, Schedulable
from rxferrix_lab.app.job_handle import JobHandle
from rxferrix_lab.app.scheduling import (
    Pool,
    Scheduler,
    SyncPool,
    SyncScheduler,
    TransactionalPool,
    TransactionalScheduler,
)
from rxferrix_lab.domain.backoff import Backoff
from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.job import Job, JobId, JobState
from rxferrix_lab.domain.occurrence import Occurrence
from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded, WorkResult
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.engine.cancellation import PoolCancellation
from rxferrix_lab.engine.clock import Clock, SystemClock, VirtualClock
from rxferrix_lab.engine.program import Identity
from rxferrix_lab.errors import (
    ActionCanceled,
    ArgumentsError,
    BlockingCallError,
    CronBusyError,
    CronSyntaxError,
    DatabaseInUseError,
    DeadContextError,
    DuplicateNameError,
    ForbiddenStatementError,
    FunctionDefinitionError,
    InstantError,
    NotRerunnableError,
    NotRunningError,
    NotSchedulableError,
    PermissionDeniedError,
    ReservedTableError,
    ResultError,
    RetriesError,
    RxFerrixError,
    StoreUnavailableError,
    SwallowedDatabaseError,
    TableError,
    UnknownCronError,
    UnknownFunctionError,
    UnknownJobError,
    UnknownPoolError,
    UnknownRowError,
    UnknownZoneError,
    VirtualTimeError,
)
from rxferrix_lab.storage.rows import Rows
from rxferrix_lab.testing import TestApp

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from rxferrix_lab.reactive.live_query import LiveQuery
    from rxferrix_lab.reactive.model import LiveModel

__all__ = [
    "Action",
    "ActionCanceled",
    "ActionCtx",
    "ArgumentsError",
    "Backoff",
    "BlockingCallError",
    "Canceled",
    "Clock",
    "CronBusyError",
    "CronSchedule",
    "CronSyntaxError",
    "Database",
    "DatabaseInUseError",
    "DeadContextError",
    "DuplicateNameError",
    "Failed",
    "ForbiddenStatementError",
    "FunctionDefinitionError",
    "Identity",
    "InstantError",
    "Job",
    "JobError",
    "JobHandle",
    "JobId",
    "JobState",
    "LiveModel",
    "LiveQuery",
    "Mutation",
    "MutationCtx",
    "NotRerunnableError",
    "NotRunningError",
    "NotSchedulableError",
    "Occurrence",
    "PermissionDeniedError",
    "Pool",
    "PoolCancellation",
    "Query",
    "QueryCtx",
    "ReservedTableError",
    "ResultError",
    "RetriesError",
    "Rows",
    "RxFerrix",
    "RxFerrixError",
    "Schedulable",
    "Scheduler",
    "StoreUnavailableError",
    "Succeeded",
    "SwallowedDatabaseError",
    "SyncActionCtx",
    "SyncPool",
    "SyncScheduler",
    "SystemClock",
    "TableError",
    "TestApp",
    "TransactionalPool",
    "TransactionalScheduler",
    "UnknownCronError",
    "UnknownFunctionError",
    "UnknownJobError",
    "UnknownPoolError",
    "UnknownRowError",
    "UnknownZoneError",
    "VirtualClock",
    "VirtualTimeError",
    "WorkResult",
    "Workpool",
]


def __getattr__(name: str) -> object:
    """The names that need param, which loads when one of them is first asked for."""
    if name == "LiveModel":
        from rxferrix_lab.reactive.model import LiveModel

        return LiveModel
    if name == "LiveQuery":
        from rxferrix_lab.reactive.live_query import LiveQuery

        return LiveQuery
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: "InteractiveShell") -> None:
    """`%load_ext rxferrix_lab`: an app, the magics, and values that show themselves."""
    from rxferrix_lab.notebook.extension import load

    load(shell)


def unload_ipython_extension(shell: "InteractiveShell") -> None:
    """`%unload_ext rxferrix_lab`: take the magics out; the app goes on."""
    from rxferrix_lab.notebook.extension import unload

    unload(shell)


def _serve(app: RxFerrix, port: int, address: str) -> serving.Served:
    from rxferrix_lab.views.serving import serve  # loads panel

    return serve(app, port, address)


serving.hand_in(_serve)
