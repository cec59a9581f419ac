"""One time that a schedule names: the instant it is due, and the wall time it was written as.

Only says what is; how wall times become instants is `cron`'s affair.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Note = Literal["", "moved by a gap", "first of a repeated hour", "merged"]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """One occurrence of a schedule.

    Attributes:
        instant: when it is due; aware, UTC.
        wall: the wall time that the schedule names; naive. Of two merged, the one that exists.
        note: what a clock change did to it; empty on every ordinary day.
    """

    instant: datetime
    wall: datetime
    note: Note = ""
