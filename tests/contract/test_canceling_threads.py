"""Contract 4.4: a thread cannot be aborted, and keeps its slot until it really ends."""

import threading
from collections.abc import AsyncIterator, Iterator

import anyio
import anyio.lowlevel
import pytest

from rxferrix_lab.app.contexts import SyncActionCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.errors import ActionCanceled
from rxferrix_lab.testing import TestApp
from tests.contract.stopping_program import (
    GRACE,
    HOUR,
    NOW,
    SECOND,
    app,
    note,
    polite,
    started,
    told,
)


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as stepped:
        yield stepped


@pytest.fixture
def came_out() -> list[str]:
    told.clear()
    return told


class TestAThread:
    """4.4: it cannot be aborted; recorded canceled, it keeps its slot until it really ends."""

    async def test_that_listens_ends_canceled(self, t: TestApp) -> None:
        job = await started(t, polling_in_a_thread)

        t.cancel(job)
        await t.advance_time(SECOND)

        assert t.job(job).state == "canceled"
        assert t.runtime.engine.attempts.stragglers() == []

    async def test_that_outlives_its_grace_is_recorded_canceled(
        self, t: TestApp, stubborn: "Stubborn"
    ) -> None:
        job = await stubborn.started(t)

        t.cancel(job)
        await t.advance_time(GRACE)

        assert t.job(job).state == "canceled"
        assert t.job(job).finished_at == t.now()

    async def test_is_shown_as_a_straggler(self, t: TestApp, stubborn: "Stubborn") -> None:
        job = await stubborn.started(t)

        t.cancel(job)
        await t.advance_time(GRACE)

        stragglers = t.runtime.engine.attempts.stragglers()
        assert [attempt.execution.job for attempt in stragglers] == [job]

    async def test_keeps_its_slot_until_it_really_ends(
        self, t: TestApp, stubborn: "Stubborn"
    ) -> None:
        first = await stubborn.started(t)
        following = await t.scheduler.pool("one").enqueue(polite)
        t.cancel(first)
        await t.advance_time(HOUR)
        assert t.job(following).state == "pending"

        await stubborn.let_go(t)
        await t.run_due_jobs()

        assert t.job(following).state == "running"
        assert t.runtime.engine.attempts.stragglers() == []

    async def test_that_returns_at_last_changes_nothing(
        self, t: TestApp, stubborn: "Stubborn"
    ) -> None:
        job = await stubborn.started(t)
        t.cancel(job)
        await t.advance_time(GRACE)
        ended = t.job(job)

        await stubborn.let_go(t)
        await t.run_due_jobs()

        assert t.job(job) == ended
        assert stubborn.told == ["refused"]

    async def test_that_sleeps_on_the_clock_is_woken_when_the_grace_ends(
        self, t: TestApp, came_out: list[str]
    ) -> None:
        job = await started(t, sleeping_in_a_thread)

        t.cancel(job)
        await t.advance_time(GRACE)
        while t.runtime.engine.attempts.stragglers():
            await anyio.lowlevel.checkpoint()

        assert t.job(job).state == "canceled"
        assert came_out == ["woken"]


class Stubborn:
    """A thread that heeds nothing until it is let go."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.told: list[str] = []

    def body(self, ctx: SyncActionCtx) -> None:
        try:
            ctx.sleep(HOUR)
        except ActionCanceled:
            self.gate.wait()
        try:
            ctx.run_mutation(note, "too late")
        except ActionCanceled:
            self.told.append("refused")

    async def started(self, t: TestApp) -> JobId:
        job = await t.scheduler.pool("one").enqueue(ignoring)
        await t.run_due_jobs()
        return job

    async def let_go(self, t: TestApp) -> None:
        self.gate.set()
        while t.runtime.engine.attempts.stragglers():
            await anyio.lowlevel.checkpoint()


_stubborn: list[Stubborn] = []


@pytest.fixture
def stubborn() -> Iterator[Stubborn]:
    _stubborn[:] = [Stubborn()]
    yield _stubborn[0]
    _stubborn[0].gate.set()


@app.action
def ignoring(ctx: SyncActionCtx) -> None:
    _stubborn[0].body(ctx)


@app.action
def polling_in_a_thread(ctx: SyncActionCtx) -> None:
    while not ctx.is_canceled():
        ctx.sleep(SECOND)


@app.action
def sleeping_in_a_thread(ctx: SyncActionCtx) -> None:
    try:
        ctx.sleep(HOUR)
    except ActionCanceled:
        told.append("woken")
        raise


class TestOrCanceled:
    """A thread races an awaitable, which runs on the app's loop, against the request to stop."""

    async def test_gives_the_value_of_the_work(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, race, False)
        await t.run_due_jobs()

        assert t.job(job).result == "done"

    async def test_ends_the_work_when_asked_to_stop(self, t: TestApp) -> None:
        told.clear()
        _began[:] = [anyio.Event()]
        job = await t.scheduler.run_after(NOW, race, True)

        async with anyio.create_task_group() as beside:
            beside.start_soon(t.run_due_jobs)
            await _began[0].wait()
            assert t.cancel(job)

        assert t.job(job).state == "canceled"
        assert told == ["asked"]


@app.action
def race(ctx: SyncActionCtx, waits: bool) -> str:
    try:
        return ctx.or_canceled(forever() if waits else at_once())
    except ActionCanceled:
        told.append("asked")
        raise


async def at_once() -> str:
    await anyio.lowlevel.checkpoint()
    return "done"


_began: list[anyio.Event] = []  # set when the work of the running test has begun


async def forever() -> str:
    _began[0].set()
    await anyio.sleep_forever()
    return "never"
