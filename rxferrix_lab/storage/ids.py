"""Ids that are never drawn twice.

Counters live in memory; the database keeps a mark above every id that may have been drawn, moved
ahead in blocks by the transaction that first needs it. A rollback gives no id back.
"""

from dataclasses import dataclass, field
from typing import TypeGuard

import duckdb

from rxferrix_lab.storage.catalog import quoted

SMALLEST_BLOCK = 32
LARGEST_BLOCK = 16_384
LARGEST_ID = 2**63 - 1
LAST_DRAWN = LARGEST_ID - 1  # so that a mark above every drawn id is a BIGINT too
MOST_REMEMBERED = 10_000


def is_id(value: object) -> TypeGuard[int]:
    """Whether a row can have this id: a whole number that fits a BIGINT."""
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and -LARGEST_ID <= value <= LARGEST_ID
    )


@dataclass(slots=True)
class IdSequence:
    """The ids of one table. Owned by the writer's thread."""

    next_id: int = 1
    durable: int = 1  # what the database has as the mark; ids below it are safe after a crash
    block: int = SMALLEST_BLOCK  # grows each time the mark is reached
    taken: set[int] = field(default_factory=set)  # given ids at or above next_id, to step over

    def draw(self) -> int:
        """The next id that no row has.

        Raises:
            OverflowError: when none is left.
        """
        while self.next_id in self.taken:
            self.taken.discard(self.next_id)
            self.next_id += 1
        if self.next_id > LAST_DRAWN:
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
            self._leap_over_lower_half()

    def next_mark(self, ahead: int) -> int:
        """The mark to write, beyond the next `ahead` ids; who draws fast gets larger blocks."""
        self.block = min(self.block * 4, LARGEST_BLOCK)
        return min(self.next_id + ahead + self.block, LARGEST_ID)

    def _leap_over_lower_half(self) -> None:
        """Remember fewer ids; a few huge ones among them must not use up all that is below."""
        ordered = sorted(self.taken)
        middle = len(ordered) // 2
        self.next_id = ordered[middle] + 1
        self.taken = set(ordered[middle + 1 :])


def begin_above_largest(connection: duckdb.DuckDBPyConnection, table: str, ids: IdSequence) -> None:
    """Go on above the largest id in the table, or where nothing is above, in the last gap."""
    name = quoted(table)
    largest = _largest(connection, f"SELECT max(id) FROM {name}", {})  # quoted
    if largest < LAST_DRAWN:
        ids.next_id = max(ids.next_id, largest + 1)
        return
    below_gap = _largest(
        connection,
        f"""
        SELECT max(id)
        FROM {name}
        WHERE id < $last
            AND id + 1 NOT IN (SELECT id FROM {name} WHERE id IS NOT NULL)
        """,  # quoted
        {"last": LAST_DRAWN},
    )
    ids.next_id = max(ids.next_id, below_gap + 1)
    ids.taken |= _ids_from(connection, table, ids.next_id)


def step_over_rows(connection: duckdb.DuckDBPyConnection, table: str, ids: IdSequence) -> None:
    """Never draw an id that a row of the table has, whoever wrote it."""
    found = _ids_from(connection, table, ids.next_id, most=MOST_REMEMBERED + 1)
    if len(found) > MOST_REMEMBERED:
        begin_above_largest(connection, table, ids)
        return
    for given in found:
        ids.step_over(given)


def _ids_from(
    connection: duckdb.DuckDBPyConnection, table: str, least: int, most: int = LARGEST_ID
) -> set[int]:
    rows = connection.execute(
        f"SELECT id FROM {quoted(table)} WHERE id >= $least LIMIT $most",  # quoted
        {"least": least, "most": most},
    ).fetchall()
    return {row for (row,) in rows}


def _largest(connection: duckdb.DuckDBPyConnection, query: str, params: dict[str, int]) -> int:
    """The id that the query finds, or 0 where it finds none."""
    # All is fetched: a result that is left unfinished keeps appenders out.
    ((largest,),) = connection.execute(query, params).fetchall()
    return max(largest or 0, 0)
