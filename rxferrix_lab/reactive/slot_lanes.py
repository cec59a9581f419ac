"""Which slot each run of a pool was in, so that a picture shows them side by side.

Pure. The engine counts slots and does not number them, so a run is put into the lowest lane that
was free when it began; runs that overlap are never in one lane.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from rxferrix_lab.reactive.picture import PoolRun


@dataclass(frozen=True, slots=True)
class SlotRun:
    """A run in its lane, from 0."""

    lane: int
    run: PoolRun


def slot_lanes(runs: Sequence[PoolRun]) -> tuple[SlotRun, ...]:
    """The runs in their lanes, in the order of their starts."""
    free_at: list[datetime | None] = []  # by lane; None: a run there has not ended
    found: list[SlotRun] = []
    for run in sorted(runs, key=lambda run: (run.started_at, run.job)):
        lane = _free_lane(free_at, run.started_at)
        if lane == len(free_at):
            free_at.append(None)
        free_at[lane] = run.finished_at
        found.append(SlotRun(lane, run))
    return tuple(found)


def _free_lane(free_at: Sequence[datetime | None], moment: datetime) -> int:
    for lane, free in enumerate(free_at):
        if free is not None and free <= moment:
            return lane
    return len(free_at)
