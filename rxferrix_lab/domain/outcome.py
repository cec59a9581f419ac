"""How a job ended, as its `on_complete` mutation and `wait` see it.

Says nothing of how an outcome is stored or carried.
"""

from dataclasses import dataclass
from typing import Generic, Literal, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class JobError:
    """Why a job failed."""

    kind: Literal["error", "interrupted", "unknown function", "arguments", "timeout"]
    type: str  # the exception's class name
    message: str
    traceback: str  # the user's frames only; empty where no exception was raised


# Not slotted: in Python 3.11, `Succeeded[int](1)` of a frozen slotted generic raises a TypeError.
@dataclass(frozen=True)
class Succeeded(Generic[T]):
    """The job returned."""

    value: T


@dataclass(frozen=True, slots=True)
class Failed:
    """The job failed, and has no retry left."""

    error: JobError


@dataclass(frozen=True, slots=True)
class Canceled:
    """The job was canceled, before it began or while it ran."""

    reason: str = ""


WorkResult: TypeAlias = Succeeded[T] | Failed | Canceled
