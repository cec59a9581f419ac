"""Takes due jobs in order and hands them to the writer: mutations to run, actions to claim.

Order is (due time, id) among jobs with a free slot (contract 2.4). Claims are committed before an
action's first line runs. Owned by the engine's loop.
"""

import heapq
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import cast

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.domain.lifecycle import Claim, Fail
from rxferrix_lab.engine.attempts import Attempts, Claimed, Submit
from rxferrix_lab.engine.clock import Clock
from rxferrix_lab.engine.endings import settle, unknown_function
from rxferrix_lab.engine.failure import arguments_error
from rxferrix_lab.engine.lanes import WINDOW, Lane, Lanes
from rxferrix_lab.engine.mutation_jobs import Deferred, Early, MutationJobs, NotRun
from rxferrix_lab.engine.program import Program
from rxferrix_lab.engine.writer import Answer, Request
from rxferrix_lab.errors import ArgumentsError
from rxferrix_lab.storage.scheduler_rows import DueKey, due_keys
from rxferrix_lab.storage.transaction import Transaction

MOST_IN_FLIGHT = 4096
PATIENCE = timedelta(seconds=60)


class UnknownFunctionPatience:
    """In an interactive app a job waits 60 s for a function that no cell has registered yet."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._until: dict[JobId, datetime] = {}

    def waits_for(self, job: JobRecord, now: datetime) -> bool:
        """Whether the job should be left pending for now."""
        if not self._program.is_interactive:
            return False
        return now < self._until.setdefault(job.id, now + PATIENCE)

    def until(self, job: JobId) -> datetime:
        """When the patience with a waiting job ends."""
        return self._until[job]

    def forget(self, job: JobId) -> None:
        """The job runs or has ended."""
        self._until.pop(job, None)


class Dispatch:
    """The way of a due job from its lane to the writer."""

    def __init__(  # the engine's parts, each used
        self,
        lanes: Lanes,
        mutations: MutationJobs,
        attempts: Attempts,
        program: Program,
        clock: Clock,
        submit: Submit,
        patience: UnknownFunctionPatience,
    ) -> None:
        self._lanes = lanes
        self._mutations = mutations
        self._attempts = attempts
        self._program = program
        self._clock = clock
        self._submit = submit
        self._patience = patience
        self._parked: list[tuple[datetime, JobId, JobRecord]] = []
        self.in_flight = 0
        self.is_stopped = False
        self.started: list[JobId] | None = None  # where a stepper wants to know what ran

    def dispatch(self, now: datetime, most: int = MOST_IN_FLIGHT) -> int:
        """Hand in what is due, at most so many at once; returns how many."""
        return self._hand_in(now, most, lambda _: True)

    def dispatch_mutations(self, now: datetime, most: int = 1024) -> int:
        """Hand in the due mutations that come before the next due action; returns how many."""
        return self._hand_in(now, most, lambda lane: lane.limit is None)

    def _hand_in(self, now: datetime, most: int, is_wanted: Callable[[Lane], bool]) -> int:
        if self.is_stopped:
            return 0
        self._unpark(now)
        requests: list[Request] = []
        while self.in_flight < MOST_IN_FLIGHT and len(requests) < most:
            lane = self._lanes.next_due(now)
            if lane is None or not is_wanted(lane):
                break
            requests.append(self._take(lane))
        if requests:
            self._submit(*requests)
        self._refill()
        return len(requests)

    def next_instant(self) -> datetime | None:
        """When the next job that has a free slot is due."""
        if self.is_stopped or self.in_flight >= MOST_IN_FLIGHT:
            return None
        parked = self._parked[0][0] if self._parked else None
        return min((at for at in (self._lanes.next_instant(), parked) if at), default=None)

    def function_was_registered(self) -> None:
        """Try the jobs that waited for a function again."""
        for _, _, job in self._parked:
            self._lanes.offer(job)
        self._parked.clear()

    # --- taking ---------------------------------------------------------------------------------
    def _take(self, lane: Lane) -> Request:
        _, job = heapq.heappop(lane.heap)
        self.in_flight += 1
        if lane.limit is None:
            return self._mutations.of_job(job, landed=lambda answer: self._ran(job, answer))
        lane.in_use += 1
        return self._claim(job, lane)

    def _ran(self, job: JobId, answer: Answer) -> None:
        self.in_flight -= 1
        if self._waits(answer):
            return
        self._patience.forget(job)
        if self.started is not None and not isinstance(answer.value, NotRun):
            self.started.append(job)

    def _claim(self, job: JobId, lane: Lane) -> Request:
        def free_slot() -> None:
            lane.in_use -= 1

        def landed(answer: Answer) -> None:
            self.in_flight -= 1
            if isinstance(answer.value, Claimed):
                self._patience.forget(job)
                if self.started is not None:
                    self.started.append(job)
                self._attempts.begin(answer.value, free_slot)
                return
            free_slot()
            self._waits(answer)

        return Request(
            lambda transaction: self._claim_body(transaction, job),
            landed=landed,
            jobs=(job,),
            persists=True,
        )

    def _claim_body(
        self, transaction: Transaction, job_id: JobId
    ) -> Claimed | Deferred | Early | None:
        job = transaction.job(job_id)
        now = self._clock.now()
        if job is None or job.state != "pending":
            return None
        if job.due_at > now:
            return Early(job)
        action = self._program.action(job.function)
        if action is None:
            if self._patience.waits_for(job, now):
                return Deferred(job)
            settle(transaction, self._program, job, Fail(unknown_function(job.function)), now)
            return None
        try:
            arguments = action.prepare(job.args)
        except ArgumentsError as error:
            settle(transaction, self._program, job, Fail(arguments_error(error)), now)
            return None
        claimed = settle(transaction, self._program, job, Claim(), now)
        return Claimed(claimed, action, arguments)

    # --- waiting --------------------------------------------------------------------------------
    def _waits(self, answer: Answer) -> bool:
        """Put a job that could not begin back; False where it did, or will never."""
        if isinstance(answer.value, Deferred):
            self._park(answer.value.job)
        elif isinstance(answer.value, Early):
            self._lanes.offer(answer.value.job)
        else:
            return False
        return True

    def _park(self, job: JobRecord) -> None:
        heapq.heappush(self._parked, (self._patience.until(job.id), job.id, job))

    def _unpark(self, now: datetime) -> None:
        while self._parked and self._parked[0][0] <= now:
            _, _, job = heapq.heappop(self._parked)
            self._lanes.offer(job)

    def _refill(self) -> None:
        for lane in self._lanes:
            if lane.is_low:
                lane.is_refilling = True
                self._submit(_refill_request(lane))


def _refill_request(lane: Lane) -> Request:
    after = lane.window_end

    def body(transaction: Transaction) -> object:
        transaction.send_scheduler_rows()
        return due_keys(transaction.connection, lane.key, after, WINDOW)

    def landed(answer: Answer) -> None:
        if answer.error is None:
            lane.refill(cast("list[DueKey]", answer.value))
        else:
            lane.is_refilling = False

    return Request(body, landed=landed, persists=True)
