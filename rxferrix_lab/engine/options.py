"""What an app sets of its engine, checked when it is given."""

from dataclasses import dataclass
from datetime import timedelta

from rxferrix_lab.domain.given import checked_whole
from rxferrix_lab.domain.workpool import check_parallelism


@dataclass(frozen=True, slots=True)
class Options:
    """What an app sets of its engine."""

    grace: timedelta = timedelta(seconds=5)
    keep: timedelta = timedelta(days=7)
    parallelism: int = 256
    seed: int = 0

    @classmethod
    def checked(cls, grace: object, keep: object, parallelism: int, seed: object) -> "Options":
        """The options, if they can be meant.

        Raises:
            ValueError: for a negative grace, a keep period of nothing, slots outside 1 to
                100,000, or a seed that is no whole number.
        """
        if not isinstance(grace, timedelta) or grace < timedelta(0):
            raise ValueError(f"grace is a timedelta of zero or more, not {grace!r:.60}")
        if not isinstance(keep, timedelta) or keep <= timedelta(0):
            raise ValueError(f"keep is a timedelta above zero, not {keep!r:.60}")
        check_parallelism(parallelism)
        if parallelism == 0:
            raise ValueError(
                "parallelism is 1 or more: with 0 no action outside a pool would ever run"
            )
        return cls(grace, keep, parallelism, checked_whole(seed, "seed"))
