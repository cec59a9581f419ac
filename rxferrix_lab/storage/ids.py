"""Ids that are never drawn twice.

Counters live in memory; the database keeps a mark above every id that may have been drawn, moved
ahead in blocks by the transaction that first needs it. A rollback gives no id back.
"""

from dataclasses import dataclass, field

BLOCK = 128
LARGEST_BLOCK = 16_384
LARGEST_ID = 2**63 - 1
MOST_REMEMBERED = 10_000


@dataclass(slots=True)
class IdSequence:
    """The ids of one table. Owned by the writer's thread."""

    next_id: int = 1
    durable: int = 1  # what the database has as the mark; ids below it are safe after a crash
    taken: set[int] = field(default_factory=set)  # given ids at or above next_id, to step over

    def draw(self) -> int:
        """The next id that no row has.

        Raises:
            OverflowError: when the largest BIGINT was reached.
        """
        while self.next_id in self.taken:
            self.taken.discard(self.next_id)
            self.next_id += 1
        if self.next_id > LARGEST_ID:
            raise OverflowError("no id is left below 2**63; rows with huge given ids used them up")
        drawn = self.next_id
        self.next_id += 1
        return drawn

    def step_over(self, given: int) -> None:
        """Never draw `given`, an id that a row brought along."""
        if given < self.next_id:
            return
        self.taken.add(given)
        if len(self.taken) > MOST_REMEMBERED:
            self.next_id = max(self.taken) + 1
            self.taken.clear()

    @property
    def needs_block(self) -> bool:
        """Whether ids were drawn that the database's mark does not cover."""
        return self.next_id > self.durable

    @property
    def next_mark(self) -> int:
        """The mark to write: a block ahead of what was drawn, and more ahead for who draws fast."""
        drawn = self.next_id - self.durable
        block = min(max(BLOCK, 4 * drawn), LARGEST_BLOCK)
        return min(self.next_id + block, LARGEST_ID)
