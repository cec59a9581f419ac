"""Contract 3, 4 and 6 as laws: whatever is asked, in whatever order, these stay true.

Slots in use are within the limit, and are the attempts that are really alive; a job with
`on_complete` that ended has one completion; nothing runs after it ended; what was canceled never
succeeds; and every job ends once the world is quiet.
"""

from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, ClassVar, TypeVar

from anyio.from_thread import start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, multiple, rule

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.errors import NotRerunnableError
from rxferrix_lab.storage.job_search import JobSearch
from rxferrix_lab.testing import TestApp
from tests.contract.world import MANNERS, POOLS, Driver, World

T = TypeVar("T")
pools = st.sampled_from(sorted(POOLS))
manners = st.sampled_from(MANNERS)
retries = st.integers(0, 2)
delays = st.sampled_from([0, 0, 1, 10]).map(lambda seconds: timedelta(seconds=seconds))
steps = st.sampled_from([0.1, 1, 2, 5, 60]).map(lambda seconds: timedelta(seconds=seconds))


class JobsOfAnApp(RuleBasedStateMachine):
    backend: ClassVar[str] = "asyncio"
    jobs = Bundle[JobId]("jobs")

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.portal = start_blocking_portal(self.backend)
        self.driver = Driver(self.portal.__enter__(), self.world.app)
        self.seen: list[JobRecord] | None = None  # since the last step
        self.canceled: set[JobId] = set()  # whose cancellation has committed
        self.most: dict[str | None, int] = dict(POOLS) | {
            None: 2
        }  # slots that may be in use, by pool

    # --- what is asked --------------------------------------------------------------------------
    @rule(
        target=jobs, pool=pools, manner=manners, retries=retries, delay=delays, told=st.booleans()
    )
    def enqueue(self, pool: str, manner: str, retries: int, delay: timedelta, told: bool) -> JobId:
        async def step(t: TestApp) -> JobId:
            chosen = t.scheduler.pool(pool).with_retries(retries)
            if told:
                chosen = chosen.on_complete(self.world.tell, 1)
            work = self.world.hasty if manner == "times out" else self.world.work
            return await chosen.enqueue_after(delay, work, manner)

        return self.run(step)

    @rule(target=jobs, pool=pools, manner=manners, many=st.integers(0, 4))
    def enqueue_many(self, pool: str, manner: str, many: int) -> Any:  # noqa: ANN401  # hypothesis
        async def step(t: TestApp) -> list[JobId]:
            told = t.scheduler.pool(pool).on_complete(self.world.tell, 1)
            return await told.enqueue_many(self.world.work, [(manner,)] * many)

        return multiple(*self.run(step))

    @rule(target=jobs, manner=manners, retries=retries, delay=delays)
    def schedule(self, manner: str, retries: int, delay: timedelta) -> JobId:
        async def step(t: TestApp) -> JobId:
            return await t.scheduler.with_retries(retries).run_after(delay, self.world.work, manner)

        return self.run(step)

    @rule(job=jobs)
    def cancel(self, job: JobId) -> None:
        before = self.record(job)

        was_canceled = self.now(lambda t: t.cancel(job))

        assert was_canceled == (before.state in ("pending", "running"))
        if was_canceled:
            self.canceled.add(job)

    @rule(pool=pools)
    def cancel_pool(self, pool: str) -> None:
        before = Counter(job.state for job in self.records() if job.pool == pool)
        meant = {job.id for job in self.records() if job.pool == pool and not job.is_finished}

        counted = self.now(lambda t: t.cancel_pool(pool))

        assert (counted.queued, counted.running) == (before["pending"], before["running"])
        self.canceled |= meant

    @rule(job=jobs, pool=pools)
    def cancel_in_a_mutation_that_raises(self, job: JobId, pool: str) -> None:
        before = self.records()

        async def step(t: TestApp) -> None:
            try:
                await t.run_mutation(self.world.cancel_and_raise, job, pool)
            except LookupError:
                return

        self.run(step)

        assert self.records() == before

    @rule(job=jobs)
    def rerun(self, job: JobId) -> None:
        before = self.record(job)

        def step(t: TestApp) -> JobId | None:
            try:
                return t.rerun(job)
            except NotRerunnableError:
                return None

        new = self.now(step)

        assert (new is not None) == (before.state in ("failed", "canceled"))

    @rule(pool=pools, slots=st.integers(0, 4))
    def resize(self, pool: str, slots: int) -> None:
        self.now(lambda t: t.resize_pool(pool, slots))
        self.most[pool] = max(slots, self.look(lambda t: in_use(t)[pool]))

    @rule(duration=steps)
    def advance(self, duration: timedelta) -> None:
        async def step(t: TestApp) -> None:
            await t.advance_time(duration)

        self.run(step)

    @rule(down_for=st.sampled_from([0, 30]))
    def restart(self, down_for: int) -> None:
        async def step(t: TestApp) -> None:
            await t.restart(down_for=timedelta(seconds=down_for))

        self.run(step)

        assert self.world.alive == {}
        assert not [job for job in self.records() if job.state in ("running", "canceling")]

    # --- what stays true ------------------------------------------------------------------------
    @invariant()
    def slots_in_use_are_within_the_limit(self) -> None:
        used, limits = self.look(lambda t: (in_use(t), limit(t)))

        for pool, slots in used.items():
            assert slots <= self.most[pool], (pool, slots, self.most[pool])
            self.most[pool] = max(limits[pool], slots)  # what runs on after a lowering may

    @invariant()
    def slots_in_use_are_the_attempts_that_are_alive(self) -> None:
        alive = Counter(self.record(job).pool for job, _ in self.world.alive)

        assert +Counter(self.look(in_use)) == alive

    @invariant()
    def what_is_alive_is_recorded_as_running(self) -> None:
        running = {
            (job.id, job.attempt) for job in self.records() if job.state in ("running", "canceling")
        }

        assert set(self.world.alive) == running

    @invariant()
    def no_attempt_begins_twice_or_too_often(self) -> None:
        attempts = {job.id: job for job in self.records()}

        assert len(set(self.world.begun)) == len(self.world.begun)
        for job, attempt in self.world.begun:
            assert attempt <= attempts[job].attempt <= attempts[job].max_attempts

    @invariant()
    def what_ended_has_one_completion_and_nothing_else_has(self) -> None:
        records = self.records()
        made = Counter(job.parent for job in records if job.trigger == "on_complete")

        for job in records:
            is_owed = job.is_finished and job.on_complete is not None
            assert made[job.id] == is_owed, job
            assert (job.completion is not None) == is_owed, job

    @invariant()
    def what_was_canceled_never_ends_otherwise(self) -> None:
        states = {job.id: job.state for job in self.records()}

        assert {states[job] for job in self.canceled} <= {"canceling", "canceled"}

    def teardown(self) -> None:
        try:
            for pool in POOLS:
                self.resize(pool, 4)
            self.advance(timedelta(days=1))
            self.every_job_has_ended_and_was_told_once()
        finally:
            self.driver.close()
            self.portal.__exit__(None, None, None)

    def every_job_has_ended_and_was_told_once(self) -> None:
        records = self.records()
        told = self.look(lambda t: t.sql("SELECT job, result FROM told"))

        assert [job for job in records if not job.is_finished] == []
        assert self.world.alive == {}
        assert sorted(zip(told["job"], told["result"], strict=True)) == sorted(
            (job.id, job.state) for job in records if job.on_complete is not None
        )

    # --- asking the app -------------------------------------------------------------------------
    def run(self, step: Callable[[TestApp], Awaitable[T]]) -> T:
        """Do something that may change the jobs."""
        self.seen = None
        return self.driver.run(step)

    def now(self, change: Callable[[TestApp], T]) -> T:
        """Do something that needs no waiting."""
        self.seen = None
        return self.look(change)

    def look(self, look: Callable[[TestApp], T]) -> T:
        """Read something."""

        async def step(t: TestApp) -> T:
            return look(t)

        return self.driver.run(step)

    def records(self) -> list[JobRecord]:
        if self.seen is None:
            self.seen = self.look(self._records)
        return self.seen

    def _records(self, t: TestApp) -> list[JobRecord]:
        with t.runtime.engine.store.snapshot() as snapshot:
            found = snapshot.find_jobs(JobSearch(), 100_000)
        return sorted(found, key=lambda job: job.id)

    def record(self, job: JobId) -> JobRecord:
        return next(record for record in self.records() if record.id == job)


def in_use(t: TestApp) -> dict[str | None, int]:
    return {lane.key[1]: lane.in_use for lane in t.runtime.engine.lanes if lane.limit is not None}


def limit(t: TestApp) -> dict[str | None, int]:
    return {lane.key[1]: lane.limit for lane in t.runtime.engine.lanes if lane.limit is not None}


class JobsOfAnAppOnTrio(JobsOfAnApp):
    backend: ClassVar[str] = "trio"


TestJobsOnAsyncio = JobsOfAnApp.TestCase
TestJobsOnAsyncio.settings = settings(max_examples=25, stateful_step_count=30)
TestJobsOnTrio = JobsOfAnAppOnTrio.TestCase
TestJobsOnTrio.settings = settings(max_examples=8, stateful_step_count=30)
