"""A small world for the state machine: pools, bodies that tell when they run, and a driver."""

from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from datetime import timedelta
from typing import Any, Literal, TypeVar, get_args

import anyio
from anyio.from_thread import BlockingPortal

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.outcome import WorkResult
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.testing import TestApp

T = TypeVar("T")
Manner = Literal[
    "returns", "fails", "sleeps", "polite", "swallows", "tidies", "cancels itself", "times out"
]
MANNERS: tuple[Manner, ...] = get_args(Manner)
NAP = timedelta(seconds=3)
POOLS = {"wide": 3, "narrow": 1}


class World:
    """An app whose bodies tell what is alive, beside what the engine says of them."""

    def __init__(self) -> None:
        self.alive: dict[tuple[JobId, int], str] = {}  # to the function's name
        self.begun: list[tuple[JobId, int]] = []
        self.app = RxFerrix(interactive=False, parallelism=2)
        self.app.table("told", "job BIGINT, result VARCHAR")
        for name, slots in POOLS.items():
            self.app.workpool(Workpool(name, slots))
        self.work = self.app.action(name="work")(self._work)
        self.hasty = self.app.action(name="hasty", timeout=timedelta(seconds=1))(self._work)
        self.tell = self.app.mutation(name="tell")(_tell)
        self.cancel_and_raise = self.app.mutation(name="cancel_and_raise")(_cancel_and_raise)

    async def _work(self, ctx: ActionCtx, manner: str) -> str:
        me = (ctx.job_id or JobId(0), ctx.attempt)
        self.begun.append(me)
        self.alive[me] = manner
        try:
            await self._behave(ctx, manner)
        finally:
            del self.alive[me]
        return manner

    async def _behave(self, ctx: ActionCtx, manner: str) -> None:
        match manner:
            case "fails":
                raise LookupError(manner)
            case "sleeps" | "times out":
                await ctx.sleep(NAP)
            case "polite":
                await ctx.or_canceled(ctx.sleep(NAP))
            case "swallows":
                await _swallowing(ctx)
            case "tidies":
                await _tidying(ctx)
            case "cancels itself":
                await ctx.scheduler.cancel(ctx.job_id or JobId(0))
                await ctx.sleep(NAP)
            case _:
                return


async def _swallowing(ctx: ActionCtx) -> None:
    try:
        await ctx.sleep(2 * NAP)
    except BaseException:  # noqa: BLE001  # the very mistake that must do no harm
        return


async def _tidying(ctx: ActionCtx) -> None:
    try:
        await ctx.or_canceled(ctx.sleep(NAP))
    finally:
        with ctx.cleanup():
            await ctx.sleep(timedelta(seconds=1))


def _tell(ctx: MutationCtx, work_id: JobId, context: int, result: WorkResult[Any]) -> None:
    ctx.db.insert("told", {"job": work_id, "result": type(result).__name__.lower()})


def _cancel_and_raise(ctx: MutationCtx, job: JobId, pool: str) -> None:
    ctx.scheduler.cancel(job)
    ctx.scheduler.cancel_pool(pool)
    raise LookupError("rolled back")


class Driver:
    """Runs a TestApp in one task of another thread's event loop; the caller waits for each step."""

    def __init__(self, portal: BlockingPortal, app: RxFerrix) -> None:
        self._portal = portal
        self._send, self._steps = anyio.create_memory_object_stream[
            Callable[[TestApp], Awaitable[None]]
        ](1)
        self._served = portal.start_task_soon(self._serve, app)

    def run(self, step: Callable[[TestApp], Awaitable[T]]) -> T:
        """What the step gives; or raises, here."""
        future: Future[T] = Future()

        async def told(t: TestApp) -> None:
            try:
                future.set_result(await step(t))
            except Exception as error:  # noqa: BLE001  # raised in the caller's thread
                future.set_exception(error)

        self._portal.call(self._send.send, told)
        return future.result()

    def close(self) -> None:
        """End the app."""
        self._portal.call(self._send.aclose)
        self._served.result()

    async def _serve(self, app: RxFerrix) -> None:
        async with TestApp(app) as t, self._steps:
            async for step in self._steps:
                await step(t)
