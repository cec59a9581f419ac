"""The engine as a whole: its parts wired together, its loop, its start and its stop.

Everything here runs on one event loop; only `_committed`, `submit` and the waiting for jobs are
called from other threads. Decides no transition and runs no user code itself.
"""

from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from datetime import datetime, timedelta
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
from anyio.abc import TaskGroup

from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.workpool import PoolRecord
from rxferrix_lab.engine import recovery
from rxferrix_lab.engine.attempts import Attempts
from rxferrix_lab.engine.awaited_jobs import AwaitedJobs
from rxferrix_lab.engine.clock import Clock, stopwatch_s
from rxferrix_lab.engine.dispatch import Dispatch, UnknownFunctionPatience
from rxferrix_lab.engine.feed import Feed
from rxferrix_lab.engine.housekeeping import QUIET_AHEAD, Housekeeping
from rxferrix_lab.engine.lanes import Lanes
from rxferrix_lab.engine.loop import Loop, result_of
from rxferrix_lab.engine.mutation_jobs import MutationJobs
from rxferrix_lab.engine.options import Options
from rxferrix_lab.engine.program import Program
from rxferrix_lab.engine.retention import Retention
from rxferrix_lab.engine.ticker import LEAP, Ticker
from rxferrix_lab.engine.vitals import Vitals
from rxferrix_lab.engine.writer import Answer, Commit, Request, Writer
from rxferrix_lab.engine.writer_thread import InlineLine, ThreadLine, WriterLine
from rxferrix_lab.errors import NotRunningError
from rxferrix_lab.storage.store import Store
from rxferrix_lab.storage.transaction import Transaction

LONGEST_WAIT_S = 2.0
DRAIN_MARGIN = timedelta(seconds=10)
T = TypeVar("T")


class Engine:
    """One app's scheduler on one event loop."""

    def __init__(self, store: Store, clock: Clock, program: Program, options: Options) -> None:
        self.store = store
        self.clock = clock
        self.program = program
        self.options = options
        self.writer = Writer(store, self._committed)
        self.feed = Feed()
        self.lanes = Lanes(options.parallelism)
        patience = UnknownFunctionPatience(program)
        self.mutations = MutationJobs(program, clock, options.seed, patience)
        self.attempts = Attempts(program, clock, self.gather, options.grace, options.seed)
        self.dispatch = Dispatch(
            self.lanes, self.mutations, self.attempts, program, clock, self.gather, patience
        )
        self.ticker = Ticker(program, clock, self.submit)
        self.retention = Retention(clock, self.submit, options.keep)
        self.vitals = Vitals()
        self.housekeeping = Housekeeping(store, self.writer, self.on_writer)
        self.pools: Mapping[str, PoolRecord] = {}
        self.loop: Loop | None = None
        self._line: WriterLine | None = None
        self._is_inline = False
        self.awaited = AwaitedJobs()
        self._wake: anyio.Event | None = None
        self._inbox: deque[Callable[[], object]] = deque()
        self._inbox_filled = anyio.Event()
        self.must_stop = False
        self._has_taken_over = False
        self._to_cancel: deque[JobId] = deque()
        self.is_settled = False  # set while a stepper waits for what it started, or for nothing
        self._gathered: list[Request] = []  # of this turn of the loop

    # --- starting and stopping ------------------------------------------------------------------
    async def serve(self, started: Callable[[], object]) -> None:
        """Run until `stop` is called, then wait for what runs, a grace long."""
        self._enter_loop()
        self._line = ThreadLine(self.writer)
        try:
            # A host that is cancelled still owes its actions their grace: `_drain` ends the shield.
            with anyio.CancelScope(shield=True) as scope:
                async with anyio.create_task_group() as tasks:
                    await self._start(tasks)
                    started()
                    await self._keep_going()
                    await self._drain(scope)
                    tasks.cancel_scope.cancel()
        finally:
            self.attempts.use(None)
            self._line.close()
            self._let_go()

    async def start_inline(self, tasks: TaskGroup, line: WriterLine | None = None) -> None:
        """Begin without a writer's thread and without a loop: somebody steps the engine."""
        self._enter_loop()
        self._is_inline = True
        self._line = line if line is not None else InlineLine(self.writer)
        await self._start(tasks)

    def _enter_loop(self) -> None:
        # The engine may have been made in another event loop, whose kind of event is another.
        self._inbox_filled = anyio.Event()
        self.loop = Loop()

    async def _start(self, tasks: TaskGroup) -> None:
        self.attempts.use(tasks)
        tasks.start_soon(self._take_calls, name="rxferrix inbox")
        await result_of(self.operate(self._recover))

    def _recover(self, transaction: Transaction) -> None:
        recovery.recover(transaction, self.program, self.clock.now())

    def reconcile_soon(self) -> "Future[None]":
        """Take over what was declared since the start; from any thread."""
        return self.operate(lambda transaction: recovery.create_tables(transaction, self.program))

    def operate(self, body: Callable[[Transaction], T]) -> "Future[T]":
        """Run a body that changes crons or pools, and take over what it left; from any thread."""
        future: Future[T] = Future()
        found: list[recovery.Recovered] = []

        def whole(transaction: Transaction) -> T:
            value = body(transaction)
            found[:] = [recovery.reconcile(transaction, self.program, self.clock.now())]
            return value

        def landed(answer: Answer) -> None:
            if answer.error is None:
                self._take_over(found[0])

        self.submit(Request(whole, done=completing(future), landed=landed))
        return future

    def abandon(self) -> None:
        """Take nothing more and record nothing more, as after a crash."""
        self.attempts.use(None)
        self.dispatch.is_stopped = True
        if self._line is not None:
            self._line.close()
        self._let_go()

    def _let_go(self) -> None:
        """Whoever waits for a job or a commit would wait for ever."""
        self.feed.close()
        self.awaited.give_up()

    def request_stop(self) -> None:
        """Begin the clean stop; from any thread."""
        self.call_soon(self._begin_stop)

    def _begin_stop(self) -> None:
        self.must_stop = True
        self.nudge()

    async def _drain(self, scope: anyio.CancelScope) -> None:
        """Claim nothing more, tell what runs, and wait until each has ended or was aborted."""
        graces = [attempt.grace for attempt in self.attempts.running()]
        longest = max(graces, default=self.options.grace) + DRAIN_MARGIN
        # Where outcomes cannot be written, the next start finds the jobs running and ends them.
        scope.deadline = anyio.current_time() + longest.total_seconds()
        self.dispatch.is_stopped = True
        self.ticker.is_stopped = True
        for attempt in self.attempts.running():
            self.attempts.ask_to_stop(attempt, "stop")
        while self.attempts.running() or self.dispatch.in_flight:
            self._hand_in_gathered()
            await self._wait(LONGEST_WAIT_S)
            for attempt in self.attempts.running():
                self.attempts.ask_to_stop(attempt, "stop")

    # --- the loop -------------------------------------------------------------------------------
    async def _keep_going(self) -> None:
        seen, watch_s = self.clock.now(), stopwatch_s()
        while not self.must_stop:
            now, now_s = self.clock.now(), stopwatch_s()
            if abs((now - seen) - timedelta(seconds=now_s - watch_s)) > LEAP:
                self.clock_leapt()
            seen, watch_s = now, now_s
            self.step(now)
            seconds = self._seconds_to_wait(now)
            if self._is_quiet(now):
                self.housekeeping.look(now_s)
            else:
                self.housekeeping.note_work()
            await self._wait(seconds)

    def _is_quiet(self, now: datetime) -> bool:
        """Whether nothing is under way, and nothing is due in the next moments."""
        if self.dispatch.in_flight or (self._line is not None and self._line.waiting):
            return False
        following = self.next_instant()
        return following is None or following - now > QUIET_AHEAD

    def clock_leapt(self) -> None:
        """The clock was set, or stood in suspend, by more than `LEAP` (contract 5.6)."""
        self.ticker.clock_leapt(self.clock.now())
        self.retention.wait_after_leap()

    def step(self, now: datetime) -> None:
        """Hand in all that has something to do now."""
        self.ticker.tick(now)
        self.dispatch.dispatch(now)
        self.retention.sweep(now)
        self._hand_in_gathered()

    def next_instant(self) -> datetime | None:
        """When something happens by itself next; None where nothing will."""
        instants = (
            self.ticker.next_instant(),
            self.dispatch.next_instant(),
            self.retention.next_instant(),
        )
        return min((instant for instant in instants if instant is not None), default=None)

    def _seconds_to_wait(self, now: datetime) -> float:
        following = self.next_instant()
        if following is None:
            return LONGEST_WAIT_S
        return min(max((following - now).total_seconds(), 0.0), LONGEST_WAIT_S)

    async def _wait(self, seconds: float) -> None:
        began_s = stopwatch_s()
        with anyio.move_on_after(seconds) as waited:
            await self.next_nudge().wait()
        if waited.cancelled_caught:
            self.vitals.note_loop_lag(stopwatch_s() - began_s - seconds)

    def call_soon(self, call: Callable[[], object]) -> bool:
        """Run `call` in a task of the engine's; from any thread. False where its loop has ended.

        A callback of the event loop runs in no task, where anyio does not know its backend.
        """
        self._inbox.append(call)
        return self.loop is not None and self.loop.post(lambda: self._inbox_filled.set())

    async def _take_calls(self) -> None:
        while True:
            await self._inbox_filled.wait()
            self._inbox_filled = anyio.Event()
            self.take_waiting_calls()
            await anyio.lowlevel.checkpoint()

    def take_waiting_calls(self) -> None:
        """Run what `call_soon` was given; on the engine's loop, or when it has ended."""
        while self._inbox:
            self._inbox.popleft()()

    def next_nudge(self) -> anyio.Event:
        """Set at the next nudge. On the engine's loop."""
        self._wake = anyio.Event()
        return self._wake

    def nudge(self) -> None:
        """Look again: something may be due. On the engine's loop."""
        if self._wake is not None:
            self._wake.set()

    def start_task(self, work: Callable[[], Coroutine[Any, Any, None]], name: str) -> None:
        """Run a coroutine as a task of the engine's; from any thread.

        Raises:
            NotRunningError: if the engine has stopped.
        """
        if not self.call_soon(lambda: self.attempts.start(work, name)):
            raise NotRunningError("the app has stopped")

    # --- requests -------------------------------------------------------------------------------
    def submit(self, *requests: Request) -> None:
        """Hand requests to the writer; from any thread."""
        if self._line is not None:
            self._line.submit(requests)

    def gather(self, *requests: Request) -> None:
        """Hand requests in with all else of this turn of the loop: one commit; on the loop."""
        if self._is_inline:
            self.submit(*requests)
        else:
            self._gathered.extend(requests)
            self.nudge()

    def _hand_in_gathered(self) -> None:
        if self._gathered:
            gathered, self._gathered = self._gathered, []
            self.submit(*gathered)

    @property
    def trouble(self) -> str | None:
        """Why nothing can be written at the moment; None where all is well."""
        return self._line.trouble if self._line is not None else None

    def is_in_mutation(self) -> bool:
        """Whether the caller is a mutation that runs right now."""
        return self._line is not None and self._line.is_writer_thread()

    def transact_soon(
        self,
        body: Callable[[Transaction], T],
        failed: Callable[[Transaction, BaseException], None] | None = None,
        *,
        persists: bool = False,
    ) -> "Future[T]":
        """Run a body in a transaction; the future completes once it has committed."""
        future: Future[T] = Future()
        done = completing(future)
        self.submit(Request(body, failed=failed, done=done, persists=persists))
        return future

    def on_writer(self, work: Callable[[Store], T]) -> "Future[T]":
        """Run something with the store between two transactions, on the writer's thread."""
        future: Future[T] = Future()
        self.submit(Request(_nothing, done=completing(future), outside=work))
        return future

    async def transact(
        self,
        body: Callable[[Transaction], T],
        failed: Callable[[Transaction, BaseException], None] | None = None,
        *,
        persists: bool = False,
    ) -> T:
        """Run a body in a transaction and return what it gave, once that has committed."""
        return await result_of(self.transact_soon(body, failed, persists=persists))

    # --- after a commit -------------------------------------------------------------------------
    def _committed(self, commit: Commit) -> None:
        """On the writer's thread."""
        if self._is_inline:
            self._landed(commit)
        elif self.loop is not None:
            self.call_soon(lambda: self._landed(commit))
        self.awaited.tell(commit.jobs)
        self.feed.publish(commit.change)

    def _landed(self, commit: Commit) -> None:
        """On the engine's loop."""
        for request, answer in commit.answers:
            if request.landed is not None:
                request.landed(answer)
        for job in commit.jobs:
            if job.state == "pending":
                self.lanes.offer(job)
            elif job.state == "canceling":
                self._cancel(job.id)
            self.vitals.note_job(job)
        self.retention.note(commit)
        self.nudge()

    def _cancel(self, job: JobId) -> None:
        """Ask what runs the job to stop; under a stepper one after the other, each in its turn."""
        if self._is_inline and not self.is_settled:
            self._to_cancel.append(job)
            return
        attempt = self.attempts.of_job(job)
        if attempt is not None:
            self.is_settled = False
            self.attempts.ask_to_stop(attempt, "cancel")

    def cancel_next(self) -> bool:
        """Ask the next attempt whose turn had not come; False where there is none."""
        if not self._to_cancel:
            return False
        self._cancel(self._to_cancel.popleft())
        return True

    def _take_over(self, found: recovery.Recovered) -> None:
        """Lanes, pools and crons as they are stored now."""
        self.pools = dict(found.pools)
        for pool in found.pools.values():
            self.lanes.resize(pool.name, pool.max_parallelism)
        if not self._has_taken_over:
            self._has_taken_over = True
            self.lanes.read_from_start(found.lanes)
            self.retention.learn(found.oldest_end)
        self.ticker.learn(found.crons, found.at)
        self.dispatch.function_was_registered()


def _nothing(_transaction: Transaction) -> None:
    """The body of a request that runs outside a transaction."""


def completing(future: "Future[T]") -> Callable[[Answer], None]:
    """What completes a future with an answer."""

    def done(answer: Answer) -> None:
        if future.cancelled():
            return
        if answer.error is not None:
            future.set_exception(answer.error)
        else:
            future.set_result(answer.value)  # type: ignore[arg-type]  # what the body gave

    return done
