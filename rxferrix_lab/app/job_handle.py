"""A job that can be awaited, and looked at."""

from collections.abc import Callable, Generator
from typing import Any

from rxferrix_lab.app.job_glance import JobGlance
from rxferrix_lab.app.reading import Reading
from rxferrix_lab.domain.job import Job, JobId
from rxferrix_lab.domain.outcome import WorkResult


class JobHandle:
    """Awaitable for the job's `WorkResult`. In a notebook it shows itself, live until the job ends.

    Attributes:
        id: the job's id.
    """

    def __init__(self, job: JobId, reading: Reading) -> None:
        self.id = job
        self._reading = reading
        reading.record(job)

    @property
    def job(self) -> Job:
        """The job as it is now.

        Raises:
            UnknownJobError: once retention has deleted it.
        """
        return self._reading.job(self.id)

    def glance(self) -> JobGlance:
        """The job, its attempts, and what the latest one printed and told, as they are now.

        Raises:
            UnknownJobError: once retention has deleted it.
        """
        return self._reading.glance(self.id)

    def on_commit(self, hear: Callable[[], None]) -> Callable[[], None]:
        """Call `hear` after each commit, on another thread; returns what ends that."""
        return self._reading.on_commit(hear)

    def __await__(self) -> Generator[Any, Any, WorkResult[Any]]:
        """How the job ended, once it has."""
        return self._reading.wait(self.id).__await__()

    def __repr__(self) -> str:
        """The job in one line."""
        job = self.job
        tries = f", attempt {job.attempt} of {job.max_attempts}" if job.max_attempts > 1 else ""
        return f"<job {job.id} {job.function}: {job.state}{tries}>"

    def _ipython_display_(self) -> None:
        from rxferrix_lab.notebook.live_outputs import show_handle  # loads IPython

        show_handle(self)
