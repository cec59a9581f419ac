"""Who waits for which job to end. Thread-safe; decides nothing and reads nothing."""

import threading
from collections.abc import Iterable
from concurrent.futures import Future

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.errors import NotRunningError


class AwaitedJobs:
    """Futures of jobs' rows as they ended."""

    def __init__(self) -> None:
        self._futures: dict[JobId, list[Future[JobRecord]]] = {}  # guarded by _guard
        self._guard = threading.Lock()

    def when_ended(self, job: JobId) -> "Future[JobRecord]":
        """A future of the job's row as it ended; the caller looks at the row too."""
        future: Future[JobRecord] = Future()
        with self._guard:
            self._futures.setdefault(job, []).append(future)
        return future

    def stop_waiting(self, job: JobId, future: "Future[JobRecord]") -> None:
        """Nobody waits for this future any more; harmless when it was told."""
        with self._guard:
            waiting = self._futures.get(job, [])
            if future in waiting:
                waiting.remove(future)
            if not waiting:
                self._futures.pop(job, None)

    def tell(self, committed: Iterable[JobRecord]) -> None:
        """A commit wrote these jobs."""
        if not self._futures:
            return
        for job in committed:
            if job.is_finished:
                with self._guard:
                    told = self._futures.pop(job.id, [])
                for future in told:
                    if not future.done():
                        future.set_result(job)

    def give_up(self) -> None:
        """No job will end any more: whoever waits is told so."""
        with self._guard:
            futures = [future for waiting in self._futures.values() for future in waiting]
            self._futures.clear()
        for future in futures:
            if not future.done():
                future.set_exception(NotRunningError("the app has stopped"))

    @property
    def count(self) -> int:
        """How many jobs somebody waits for."""
        return len(self._futures)
