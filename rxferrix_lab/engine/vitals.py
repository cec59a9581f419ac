"""What an operator wants to know of the engine itself: how late it is, and what holds it up."""

from collections import deque
from datetime import timedelta

from rxferrix_lab.domain.job import JobRecord

SAMPLES = 500


class Vitals:
    """The latest measurements. Written on the engine's loop, read anywhere."""

    def __init__(self) -> None:
        self._lateness_s: deque[float] = deque(maxlen=SAMPLES)
        self._loop_lag_s: deque[float] = deque(maxlen=SAMPLES)
        self.progress_told = 0

    def note_job(self, job: JobRecord) -> None:
        """Measure how late a job that has just begun is."""
        has_begun = job.state == "running" or (job.kind == "mutation" and job.is_finished)
        if has_begun and job.started_at is not None:
            self._lateness_s.append((job.started_at - job.due_at).total_seconds())

    def note_progress(self) -> None:
        """An action told its progress: a screen that shows it is out of date."""
        self.progress_told += 1

    def note_loop_lag(self, seconds: float) -> None:
        """Measure how late the event loop woke the engine: somebody's action blocks it."""
        self._loop_lag_s.append(max(seconds, 0.0))

    def lateness(self, share: float) -> timedelta | None:
        """The lateness that this share (0 to 1) of the latest jobs did not exceed.

        None without jobs.
        """
        return _quantile(list(self._lateness_s), share)

    def loop_lag(self, share: float) -> timedelta | None:
        """The same of the event loop's lateness."""
        return _quantile(list(self._loop_lag_s), share)


def _quantile(samples: list[float], share: float) -> timedelta | None:
    if not samples:
        return None
    ordered = sorted(samples)
    at = min(int(share * len(ordered)), len(ordered) - 1)
    return timedelta(seconds=ordered[at])
