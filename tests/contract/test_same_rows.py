"""Contract 8.2: the same program, seed and steps give the same rows, byte for byte."""

from collections.abc import AsyncIterator
from functools import cache
from typing import Any

import anyio
import pytest

from rxferrix_lab import (
    ActionCtx,
    MutationCtx,
    SyncActionCtx,
    TestApp,
)
from tests.contract.timed_program import (
    DAY,
    HOUR,
    NOW,
    app,
    bare,
    cancel_all,
    chain,
    done,
    draw,
    fail_twice,
    nap,
    nap_in_a_thread,
    stubborn,
    tables,
    until_canceled,
)


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(bare) as entered:
        yield entered


async def busy_days(seed: int = 0) -> dict[str, list[tuple[Any, ...]]]:
    """A program with a bit of everything, stepped the same way each time."""
    async with TestApp(app, seed=seed) as t:
        pool = t.scheduler.pool("pool")
        for number in range(8):
            await pool.on_complete(done, f"job {number}").enqueue(nap, f"nap {number}", 40.5)
            await pool.on_complete(done, f"failing {number}").enqueue(fail_twice)
        waiting = [await pool.enqueue_after(DAY, until_canceled, str(n)) for n in range(3)]
        await t.scheduler.run_after(HOUR, nap_in_a_thread, "thread", 1)
        await t.scheduler.run_after(NOW, stubborn)
        await t.scheduler.run_after(NOW, chain, 5)
        await t.advance_time(DAY)
        await t.scheduler.cancel(waiting[0])
        await t.run_mutation(cancel_all)
        await t.advance_time(HOUR)
        await t.restart(down_for=30 * HOUR)
        for _ in range(2):
            await t.run_mutation(draw)
            await t.advance_time(10 * HOUR)
        return tables(t)


@cache
def rows_of(backend: str, run: int, seed: int = 0) -> dict[str, list[tuple[Any, ...]]]:
    """What is stored after a run; each is made once, and the tests compare them."""
    del run
    return anyio.run(busy_days, seed, backend=backend)


class TestSameRows:
    """8.2: the same program, seed and steps give the same rows, byte for byte."""

    @pytest.mark.parametrize("backend", ["asyncio", "trio"])
    def test_twice_on_the_same_backend(self, backend: str) -> None:
        assert rows_of(backend, 1) == rows_of(backend, 2)

    def test_on_asyncio_as_on_trio(self) -> None:
        assert rows_of("asyncio", 1) == rows_of("trio", 1)

    def test_another_seed_gives_other_rows(self) -> None:
        assert rows_of("asyncio", 1) != rows_of("asyncio", 1, seed=1)

    async def test_a_stored_traceback_holds_the_users_frames_only(self, t: TestApp) -> None:
        jobs = [
            await t.scheduler.run_after(NOW, fail_in_a_helper),
            await t.scheduler.run_after(NOW, fail_in_a_thread),
            await t.scheduler.run_after(NOW, fail_in_a_mutation),
            await t.scheduler.run_after(NOW, fail_in_a_task),
        ]
        await t.run_due_jobs()

        for job in jobs:
            error = t.job(job).error
            assert error is not None
            files = [line for line in error.traceback.splitlines() if "File " in line]
            assert files
            assert [line for line in files if __file__ not in line] == []
            assert "in helper" in error.traceback


def helper() -> None:
    raise ValueError("boom")


@bare.action
async def fail_in_a_helper(ctx: ActionCtx) -> None:
    helper()


@bare.action
def fail_in_a_thread(ctx: SyncActionCtx) -> None:
    helper()


@bare.mutation
def fail_in_a_mutation(ctx: MutationCtx) -> None:
    helper()


@bare.action
async def fail_in_a_task(ctx: ActionCtx) -> None:
    async def inner() -> None:
        await ctx.sleep(NOW)
        helper()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(inner)
