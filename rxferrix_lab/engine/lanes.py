"""Due jobs in memory, in order, by lane.

A lane is what shares slots: the mutations (none needed), the actions in no pool, and each pool. A
    lane holds the first keys (due time, id) of its pending jobs; the database has the rest, and is
    asked for more when a lane runs low, so a million far-off jobs cost no memory. Owned by the
    engine's loop.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.storage.scheduler_rows import DueKey

WINDOW = 20_000  # keys read at a time
LARGEST_LANE = 3 * WINDOW
LOW = WINDOW // 4

BEFORE_ALL: DueKey = (datetime.min.replace(tzinfo=UTC), JobId(0))

LaneKey = tuple[str, str | None]  # kind, pool
MUTATIONS: LaneKey = ("mutation", None)
PLAIN_ACTIONS: LaneKey = ("action", None)


def lane_of(job: JobRecord) -> LaneKey:
    """The lane that a job runs in."""
    return (job.kind, job.pool)


@dataclass(slots=True)
class Lane:
    """Keys of pending jobs up to `window_end`; behind it only the database knows."""

    key: LaneKey
    limit: int | None  # slots; null for mutations, which need none
    in_use: int = 0
    heap: list[DueKey] = field(default_factory=list)
    window_end: DueKey | None = None  # null: the heap holds every pending job of the lane
    is_refilling: bool = False

    @property
    def has_free_slot(self) -> bool:
        """Whether a job of the lane may begin."""
        return self.limit is None or self.in_use < self.limit

    @property
    def is_low(self) -> bool:
        """Whether the database should be asked for more."""
        return self.window_end is not None and not self.is_refilling and len(self.heap) < LOW

    def offer(self, key: DueKey) -> None:
        """Take a pending job's key, unless it lies behind the window."""
        if self.window_end is None or key <= self.window_end:
            heapq.heappush(self.heap, key)
            if len(self.heap) > LARGEST_LANE:
                self.heap = heapq.nsmallest(WINDOW, self.heap)
                self.window_end = self.heap[-1]

    def refill(self, keys: list[DueKey]) -> None:
        """Take the next keys behind the window, as the database gave them."""
        self.is_refilling = False
        for key in keys:
            heapq.heappush(self.heap, key)
        self.window_end = keys[-1] if len(keys) == WINDOW else None


class Lanes:
    """Every lane of an engine."""

    def __init__(self, parallelism: int) -> None:
        self._lanes: dict[LaneKey, Lane] = {
            MUTATIONS: Lane(MUTATIONS, limit=None),
            PLAIN_ACTIONS: Lane(PLAIN_ACTIONS, limit=parallelism),
        }

    def __iter__(self) -> Iterator[Lane]:
        """Every lane."""
        return iter(self._lanes.values())

    def lane(self, key: LaneKey) -> Lane:
        """The lane of that kind and pool; one that nobody declared has no slots."""
        found = self._lanes.get(key)
        if found is None:
            found = self._lanes[key] = Lane(key, limit=0)
        return found

    def read_from_start(self, keys: Iterable[LaneKey]) -> None:
        """These lanes have pending jobs that only the database knows of."""
        for key in keys:
            self.lane(key).window_end = BEFORE_ALL

    def pools(self) -> list[Lane]:
        """The lanes of pools."""
        return [lane for lane in self._lanes.values() if lane.key[1] is not None]

    def resize(self, pool: str, slots: int) -> None:
        """Give a pool another number of slots; what runs goes on."""
        self.lane(("action", pool)).limit = slots

    def offer(self, job: JobRecord) -> None:
        """Take a pending job."""
        self.lane(lane_of(job)).offer((job.due_at, job.id))

    def next_due(self, now: datetime) -> Lane | None:
        """The lane whose first job is the earliest of those due with a free slot."""
        best: Lane | None = None
        known_to: DueKey | None = None
        for lane in self._lanes.values():
            if not lane.has_free_slot:
                continue
            if not lane.heap:
                known_to = _earlier(known_to, lane.window_end)
            elif lane.heap[0][0] <= now and (best is None or lane.heap[0] < best.heap[0]):
                best = lane
        # A lane that is being read may hold an earlier job, and order is over all lanes (2.4).
        if best is not None and known_to is not None and best.heap[0] > known_to:
            return None
        return best

    def next_instant(self) -> datetime | None:
        """The earliest due time among the lanes with a free slot; None while one is being read."""
        free = [lane for lane in self._lanes.values() if lane.has_free_slot]
        if any(not lane.heap and lane.window_end is not None for lane in free):
            return None
        return min((lane.heap[0][0] for lane in free if lane.heap), default=None)


def _earlier(one: DueKey | None, other: DueKey | None) -> DueKey | None:
    if one is None or other is None:
        return one if other is None else other
    return min(one, other)
