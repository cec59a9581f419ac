"""Requests that share one transaction, and what is known of it so far.

Holds the state of one try and decides nothing: the writer does.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rxferrix_lab.storage.transaction import Transaction

if TYPE_CHECKING:
    from rxferrix_lab.engine.writer import Answer, Request


@dataclass(slots=True)
class Group:
    """One try at a transaction."""

    batch: list["Request"]
    transaction: Transaction | None = None  # null until it was begun
    answers: list[tuple["Request", "Answer"]] = field(default_factory=list)
    owners: dict[tuple[str, int], int] = field(default_factory=dict)  # who wrote which row
    suspect: "Request | None" = None  # in whose body the database was lost or full
    changed: frozenset[str] | None = None  # tables; null until it has committed
    was_refused: bool = False  # by the database, and not by a function of its own accord

    @property
    def open_transaction(self) -> Transaction:
        """The transaction, once it was begun."""
        if self.transaction is None:
            raise RuntimeError("the group has not begun")
        return self.transaction


def batches_of(requests: Sequence["Request"]) -> list[list["Request"]]:
    """The requests in as few batches as can be: what runs outside a transaction stands alone."""
    batches: list[list[Request]] = [[]]
    for request in requests:
        if request.outside is not None:
            batches += [[request], []]
        else:
            batches[-1].append(request)
    return batches
