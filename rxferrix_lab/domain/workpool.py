"""A workpool: a named set of slots for actions, with the defaults of its jobs."""

from dataclasses import dataclass, field

from rxferrix_lab.domain.backoff import Backoff
from rxferrix_lab.errors import RetriesError

LARGEST_POOL = 100_000
MOST_RETRIES = 10_000


@dataclass(frozen=True)
class Workpool:
    """At most ``max_parallelism`` actions of the pool run at once; 0 pauses it."""

    name: str
    max_parallelism: int
    retries: int = 0
    backoff: Backoff = field(default_factory=Backoff)

    def __post_init__(self) -> None:
        """Refuse a pool without a name, or with numbers that cannot be meant.

        Raises:
            ValueError: for an empty name or a size outside 0 to 100,000.
            RetriesError: for a negative or absurd number of retries.
            TypeError: for a backoff that is none.
        """
        check_pool_name(self.name)
        check_parallelism(self.max_parallelism)
        check_retries(self.retries)
        if not isinstance(self.backoff, Backoff):  # pyright: ignore[reportUnnecessaryIsInstance]  # untyped callers
            raise TypeError(f"backoff is a Backoff, not {self.backoff!r:.60}")


def check_pool_name(name: object) -> None:
    """Refuse what cannot name a pool.

    Raises:
        ValueError: unless `name` is text of 1 to 200 characters.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > 200:
        raise ValueError(f"a workpool's name is text of 1 to 200 characters, not {name!r:.60}")


def check_parallelism(slots: object) -> None:
    """Refuse what cannot be a number of slots.

    Raises:
        ValueError: unless `slots` is a whole number from 0 (paused) to 100,000.
    """
    if isinstance(slots, bool) or not isinstance(slots, int) or not 0 <= slots <= LARGEST_POOL:
        raise ValueError(
            f"max_parallelism is a whole number from 0 (paused) to {LARGEST_POOL:,}, not "
            f"{slots!r:.60}"
        )


def check_retries(retries: object) -> None:
    """Refuse what cannot be a number of retries.

    Raises:
        RetriesError: unless `retries` is a whole number from 0 to 10,000.
    """
    if (
        isinstance(retries, bool)
        or not isinstance(retries, int)
        or not 0 <= retries <= MOST_RETRIES
    ):
        raise RetriesError(
            f"retries is a whole number from 0 to {MOST_RETRIES:,} after the first attempt, "
            f"not {retries!r:.60}"
        )


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """One row of `_workpools`.

    The size in force, and the declared one that it replaces or keeps.
    """

    name: str
    max_parallelism: int
    declared_parallelism: int
    retries: int = 0
