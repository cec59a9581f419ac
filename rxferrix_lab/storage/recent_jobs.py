"""Unfinished jobs as this process wrote them last.

The writer is the only one that changes a job, so what it has committed needs no reading back.
Filled after COMMIT only, bounded, and emptied when the database is opened again.
"""

from collections.abc import Iterable

from rxferrix_lab.domain.job import JobId, JobRecord

MOST = 20_000


class RecentJobs:
    """The latest committed rows of unfinished jobs. Owned by the writer's thread."""

    def __init__(self) -> None:
        self._jobs: dict[JobId, JobRecord] = {}

    def get(self, job: JobId) -> JobRecord | None:
        """The job, if it is remembered."""
        return self._jobs.get(job)

    def note(self, committed: Iterable[JobRecord]) -> None:
        """Remember what a commit wrote; forget what has ended, and the oldest where too many."""
        for job in committed:
            if job.is_finished:
                self._jobs.pop(job.id, None)
            else:
                self._jobs[job.id] = job
        for _ in range(len(self._jobs) - MOST):
            del self._jobs[next(iter(self._jobs))]

    def clear(self) -> None:
        """Trust only the database."""
        self._jobs.clear()
