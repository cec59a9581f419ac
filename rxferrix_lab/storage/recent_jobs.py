"""Unfinished jobs as this process wrote them last.

The writer is the only one that changes a job, so what it has committed needs no reading back.
Filled after COMMIT only, bounded, and emptied when the database is opened again.
"""

from collections.abc import Iterable
from datetime import timedelta

from rxferrix_lab.domain.job import JobId, JobRecord

MOST = 50_000
SOON = timedelta(minutes=10)


class RecentJobs:
    """The latest committed rows of unfinished jobs. Owned by the writer's thread."""

    def __init__(self) -> None:
        self._jobs: dict[JobId, JobRecord] = {}

    def get(self, job: JobId) -> JobRecord | None:
        """The job, if it is remembered."""
        return self._jobs.get(job)

    def note(self, committed: Iterable[JobRecord]) -> None:
        """Remember what a commit wrote and will soon be asked for; forget what has ended."""
        jobs = self._jobs
        for job in committed:
            if job.is_finished:
                jobs.pop(job.id, None)
            elif job.id in jobs or (len(jobs) < MOST and job.due_at - job.created_at < SOON):
                jobs[job.id] = job

    def clear(self) -> None:
        """Trust only the database."""
        self._jobs.clear()
