"""The user's program as the engine sees it: names to things that run."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Protocol

from rxferrix_lab.domain.cron_record import DeclaredCron
from rxferrix_lab.domain.given import checked_flag, checked_text
from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.domain.log_entry import Caller
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.storage.transaction import Transaction

if TYPE_CHECKING:
    from rxferrix_lab.engine.attempt import Attempt

Prepared = Any  # decoded arguments: only the function that prepared them looks inside


@dataclass(frozen=True, slots=True)
class Identity:
    """Who calls: a subject, and whether it is an operator (`admin`)."""

    subject: str
    admin: bool = False

    def __post_init__(self) -> None:
        """Refuse what names nobody, and a role that is neither.

        Raises:
            TypeError: unless the subject is text and `admin` a bool.
        """
        checked_text(self.subject, "an identity's subject")
        checked_flag(self.admin, "an identity's admin")


def checked_identity(identity: object) -> Identity:
    """The identity, if it is one.

    Raises:
        TypeError: for anything else.
    """
    if not isinstance(identity, Identity):
        raise TypeError(f"as_user takes an Identity, not {identity!r:.60}")
    return identity


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution of a function: who, when, for which job, with which randomness."""

    function: str
    now: datetime
    seed: str
    caller: Caller
    identity: Identity | None = None  # null for scheduled functions and the program
    job: JobId | None = None  # null for a call made outside the scheduler
    attempt: int = 1


class RunnableMutation(Protocol):
    """A registered mutation."""

    def prepare(self, args: str) -> Prepared:
        """The arguments of a stored job, decoded; ArgumentsError where they no longer fit."""
        ...

    def run(self, transaction: Transaction, execution: Execution, arguments: Prepared) -> str:
        """Run inside the transaction and return the result as JSON."""
        ...


class RunnableAction(Protocol):
    """A registered action."""

    @property
    def grace(self) -> timedelta | None:
        """How long it may go on after it was asked to stop; None for the app's grace."""
        ...

    @property
    def timeout(self) -> timedelta | None:
        """After which it is asked to stop; None for never."""
        ...

    @property
    def in_thread(self) -> bool:
        """Whether it runs in a thread, which cannot be aborted."""
        ...

    def prepare(self, args: str) -> Prepared:
        """The arguments of a stored job, decoded; ArgumentsError where they no longer fit."""
        ...

    async def run(self, attempt: "Attempt", arguments: Prepared) -> str:
        """Run and return the result as JSON."""
        ...


class Program(Protocol):
    """All that is registered and declared."""

    @property
    def is_interactive(self) -> bool:
        """Whether more may be declared later, cell by cell."""
        ...

    @property
    def crons(self) -> Mapping[str, DeclaredCron]:
        """The declared crons and intervals, by name."""
        ...

    @property
    def pools(self) -> Mapping[str, Workpool]:
        """The declared pools, by name."""
        ...

    @property
    def tables(self) -> Mapping[str, str]:
        """The declared tables: name to columns."""
        ...

    def mutation(self, name: str) -> RunnableMutation | None:
        """The mutation of that name."""
        ...

    def action(self, name: str) -> RunnableAction | None:
        """The action of that name."""
        ...

    def completion_args(self, job: JobRecord) -> str:
        """The arguments of the `on_complete` mutation of a job that has ended, as JSON."""
        ...
