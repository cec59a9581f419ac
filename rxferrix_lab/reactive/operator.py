"""The verbs of an operator, awaited by screens.

Each runs on a reader's thread and returns once it has committed, so no screen's loop waits for the
writer. Whether it is allowed is decided in the app, which refuses a viewer and logs that he tried.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from rxferrix_lab.app.operations import Operations
from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.domain.job import CANCELABLE, RERUNNABLE, JobId
from rxferrix_lab.engine.cancellation import PoolCancellation
from rxferrix_lab.engine.loop import result_of
from rxferrix_lab.engine.program import Identity
from rxferrix_lab.storage.job_search import JobSearch, matching_ids

__all__ = ["Identity", "Operator", "PoolCancellation"]

AT_ONCE = 2_000  # jobs changed in one transaction: the writer has other work to do
T = TypeVar("T")


class Operator:
    """The app's operating verbs as one identity."""

    def __init__(self, runtime: Runtime, identity: Identity | None) -> None:
        self._runtime = runtime
        self._identity = identity
        self._operations = Operations(runtime, identity)

    @property
    def subject(self) -> str:
        """Who operates; empty for the program itself."""
        return self._identity.subject if self._identity is not None else ""

    @property
    def may_operate(self) -> bool:
        """Whether the app will let it; asked for looks only, since the app decides."""
        return self._identity is None or self._identity.admin

    async def _do(self, verb: Callable[[], T]) -> T:
        return await result_of(self._runtime.read_soon(verb))

    # --- jobs -----------------------------------------------------------------------------------
    async def cancel(self, job: JobId) -> bool:
        """Cancel a job; True where this call stopped or is stopping it."""
        return await self._do(lambda: self._operations.cancel(job))

    async def rerun(self, job: JobId) -> JobId:
        """Make a new job like one that failed or was canceled."""
        return await self._do(lambda: self._operations.rerun(job))

    async def cancel_jobs(self, jobs: Sequence[JobId]) -> int:
        """Cancel these jobs; how many this call stopped or is stopping."""
        return await self._in_parts(jobs, self._operations.cancel_jobs)

    async def rerun_jobs(self, jobs: Sequence[JobId]) -> int:
        """Run those of these jobs again that failed or were canceled; how many that were."""
        return await self._in_parts(jobs, self._operations.rerun_jobs)

    async def cancel_matching(self, search: JobSearch) -> int:
        """Cancel every job that matches at this moment."""
        return await self.cancel_jobs(await self._matching(search.among(CANCELABLE)))

    async def rerun_matching(self, search: JobSearch) -> int:
        """Run every job again that matches at this moment and failed or was canceled."""
        return await self.rerun_jobs(await self._matching(search.among(RERUNNABLE)))

    async def _matching(self, search: JobSearch) -> list[JobId]:
        def look() -> list[JobId]:
            with self._runtime.engine.store.snapshot() as snapshot:
                return snapshot.ask(matching_ids, search)

        return await self._do(lambda: self._runtime.engine.store.lasting(look))

    async def _in_parts(self, jobs: Sequence[JobId], verb: Callable[[Sequence[JobId]], int]) -> int:
        changed = 0
        for start in range(0, len(jobs), AT_ONCE):
            part = jobs[start : start + AT_ONCE]
            changed += await self._do(partial(verb, part))
        return changed

    # --- crons ----------------------------------------------------------------------------------
    async def run_cron_now(self, name: str) -> JobId:
        """Run a cron at once, without moving its next run."""
        return await self._do(lambda: self._operations.run_cron_now(name))

    async def pause_cron(self, name: str) -> None:
        """Let a cron make no jobs until it is resumed."""
        await self._do(lambda: self._operations.pause_cron(name))

    async def resume_cron(self, name: str) -> None:
        """Let a paused cron go on from now."""
        await self._do(lambda: self._operations.resume_cron(name))

    async def remove_cron(self, name: str) -> None:
        """Take a cron out with its pending job; its history stays."""
        await self._do(lambda: self._operations.remove_cron(name))

    # --- pools ----------------------------------------------------------------------------------
    async def cancel_pool(self, name: str) -> PoolCancellation:
        """Cancel all that is queued or running in the pool at this moment."""
        return await self._do(lambda: self._operations.cancel_pool(name))

    async def resize_pool(self, name: str, max_parallelism: int) -> None:
        """Give a pool another number of slots; 0 pauses it."""
        await self._do(lambda: self._operations.resize_pool(name, max_parallelism))
