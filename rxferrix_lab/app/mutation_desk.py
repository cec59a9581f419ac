"""The running mutation's side of its context.

Writes jobs and cancellations into its transaction.
"""

from rxferrix_lab.app.plan import Call, Plan
from rxferrix_lab.app.registry import Registry
from rxferrix_lab.app.scheduling import Due
from rxferrix_lab.domain.given import checked_text
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.engine.cancellation import PoolCancellation, cancel_job, cancel_pool
from rxferrix_lab.engine.program import Execution, Program
from rxferrix_lab.errors import DeadContextError, UnknownPoolError
from rxferrix_lab.storage.transaction import Transaction


class MutationDesk:
    """One execution of a mutation, or of one request of an action's scheduler."""

    def __init__(
        self,
        transaction: Transaction,
        execution: Execution,
        registry: Registry,
        program: Program,
    ) -> None:
        self.transaction = transaction
        self.execution = execution
        self.registry = registry
        self._program = program
        self._is_dead = False

    def check(self) -> None:
        """Refuse use after the function has returned.

        Raises:
            DeadContextError: the transaction has ended.
        """
        if self._is_dead:
            raise DeadContextError(self.execution.function)

    def close(self) -> None:
        """The function has returned."""
        self._is_dead = True

    def add(self, plan: Plan, calls: list[Call], due: Due) -> list[JobId]:
        """Make the jobs, due when `due` says."""
        self.check()
        now = self.execution.now
        asked = due(now)
        ids: list[JobId] = []
        for call in calls:
            job = self.transaction.draw_job_id()
            parent = self.execution.job
            self.transaction.add_job(plan.record(job, call, asked, now, self.registry, parent))
            ids.append(job)
        return ids

    def cancel(self, job: JobId) -> bool:
        """Cancel a job; False for the one that this mutation itself is (contract 4.5).

        Raises:
            UnknownJobError: if there is no such job.
        """
        self.check()
        if job == self.execution.job and self._is_own_job_a_mutation():
            return False
        return cancel_job(self.transaction, self._program, job, self.execution.now)

    def _is_own_job_a_mutation(self) -> bool:
        own = self.execution.job
        stored = self.transaction.job(own) if own is not None else None
        return stored is not None and stored.kind == "mutation"

    def cancel_pool(self, name: str) -> PoolCancellation:
        """Cancel what the pool holds.

        Raises:
            UnknownPoolError: if the pool is neither declared nor stored.
        """
        self.check()
        checked_text(name, "a pool's name")
        if name not in self.registry.pools and name not in self.transaction.pools():
            raise UnknownPoolError(str(name), sorted(self.registry.pools))
        return cancel_pool(self.transaction, self._program, name, self.execution.now)
