"""Contract 6.2 and 6.3: `on_complete` runs exactly once for each job that ends, in whatever way."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, assert_never

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx
from rxferrix_lab.domain.job import JobId
from rxferrix_lab.domain.outcome import Canceled, Failed, Succeeded, WorkResult
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.errors import ArgumentsError, NotSchedulableError
from rxferrix_lab.testing import TestApp

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class User:
    name: str
    age: int


ANN = User("ann", 41)

app = RxFerrix(interactive=False)
app.table("told", "job BIGINT, name VARCHAR, result VARCHAR")
app.workpool(Workpool("emails", 2))


@app.action
async def send(ctx: ActionCtx, to: str) -> str:
    await ctx.sleep(MINUTE)
    return f"sent to {to}"


@app.action
async def failing(ctx: ActionCtx) -> str:
    raise LookupError(f"attempt {ctx.attempt}")


@app.mutation(internal=True)
def sent(ctx: MutationCtx, work_id: JobId, context: User, result: WorkResult[str]) -> None:
    match result:
        case Succeeded(value):
            told = value
        case Failed(error):
            told = f"{error.kind}: {error.message}"
        case Canceled():
            told = "canceled"
        case _:
            assert_never(result)
    ctx.db.insert("told", {"job": work_id, "name": context.name, "result": told})


@app.mutation
def enqueue(ctx: MutationCtx, raising: bool = False) -> JobId:
    job = ctx.scheduler.pool("emails").on_complete(sent, ANN).enqueue(send, "ann")
    if raising:
        raise LookupError
    return job


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as stepped:
        yield stepped


def told(t: TestApp) -> list[tuple[int, str]]:
    rows = t.sql("SELECT job, result FROM told ORDER BY id")
    return [
        (int(job), str(result)) for job, result in zip(rows["job"], rows["result"], strict=True)
    ]


async def enqueued(t: TestApp) -> JobId:
    job = await t.scheduler.pool("emails").on_complete(sent, ANN).enqueue(send, "ann")
    await t.run_due_jobs()
    return job


class TestItRunsExactlyOnce:
    async def test_for_a_success(self, t: TestApp) -> None:
        job = await enqueued(t)

        await t.advance_time(HOUR)

        assert told(t) == [(job, "sent to ann")]

    async def test_for_a_failure_after_the_last_retry(self, t: TestApp) -> None:
        pool = t.scheduler.pool("emails").on_complete(sent, ANN).with_retries(2)
        job = await pool.enqueue(failing)

        await t.advance_time(HOUR)

        assert told(t) == [(job, "error: attempt 3")]

    async def test_and_not_between_attempts(self, t: TestApp) -> None:
        await t.scheduler.pool("emails").on_complete(sent, ANN).with_retries(2).enqueue(failing)

        await t.run_due_jobs()

        assert told(t) == []

    async def test_for_a_job_canceled_while_queued(self, t: TestApp) -> None:
        job = await t.scheduler.pool("emails").on_complete(sent, ANN).enqueue_after(HOUR, send, "x")

        t.cancel(job)
        await t.advance_time(2 * HOUR)

        assert told(t) == [(job, "canceled")]

    async def test_for_a_job_canceled_while_running(self, t: TestApp) -> None:
        job = await enqueued(t)

        t.cancel(job)
        await t.run_due_jobs()
        assert told(t) == []
        await t.advance_time(HOUR)

        assert told(t) == [(job, "canceled")]

    async def test_for_a_job_canceled_while_waiting_for_a_retry(self, t: TestApp) -> None:
        pool = t.scheduler.pool("emails").on_complete(sent, ANN).with_retries(2)
        job = await pool.enqueue(failing)
        await t.run_due_jobs()

        t.cancel(job)
        await t.advance_time(HOUR)

        assert told(t) == [(job, "canceled")]

    async def test_for_a_job_canceled_with_its_pool(self, t: TestApp) -> None:
        job = await enqueued(t)

        t.cancel_pool("emails")
        await t.advance_time(HOUR)

        assert told(t) == [(job, "canceled")]

    async def test_for_a_job_interrupted_by_a_crash(self, t: TestApp) -> None:
        job = await enqueued(t)

        await t.restart()
        await t.advance_time(HOUR)

        assert told(t) == [
            (job, "interrupted: the process that ran it ended before the action did")
        ]

    async def test_for_a_job_that_a_crash_caught_in_its_grace(self, t: TestApp) -> None:
        job = await enqueued(t)
        t.cancel(job)

        await t.restart()
        await t.advance_time(HOUR)

        assert told(t) == [(job, "canceled")]

    async def test_across_a_crash_before_it_ran(self, t: TestApp) -> None:
        job = await t.scheduler.pool("emails").on_complete(sent, ANN).enqueue_after(HOUR, send, "x")
        t.cancel(job)

        await t.restart()
        await t.restart()
        await t.run_due_jobs()

        assert told(t) == [(job, "canceled")]

    async def test_for_each_of_a_batch(self, t: TestApp) -> None:
        pool = t.scheduler.pool("emails").on_complete(sent, ANN)
        jobs = await pool.enqueue_many(send, [(str(n),) for n in range(20)])

        await t.advance_time(timedelta(minutes=10))

        assert sorted(told(t)) == [(job, f"sent to {n}") for n, job in enumerate(jobs)]


class TestAFunctionThatChanged:
    async def _left_behind(self, path: Path) -> JobId:
        async with TestApp(app, database=path) as t:
            return await t.scheduler.pool("emails").on_complete(sent, ANN).enqueue(send, "ann")

    async def test_that_is_no_longer_registered_is_told(self, tmp_path: Path) -> None:
        job = await self._left_behind(tmp_path / "app.duckdb")

        async with TestApp(_app_with(None), database=tmp_path / "app.duckdb") as t:
            await t.run_due_jobs()

            assert told(t) == [(job, "unknown function")]

    async def test_whose_arguments_no_longer_decode_is_told(self, tmp_path: Path) -> None:
        job = await self._left_behind(tmp_path / "app.duckdb")

        async with TestApp(_app_with(_send_to_a_number), database=tmp_path / "app.duckdb") as t:
            await t.run_due_jobs()

            assert told(t) == [(job, "arguments")]


async def _send_to_a_number(_ctx: ActionCtx, to: int) -> str:
    return str(to)


def _app_with(send_now: Any) -> RxFerrix:  # noqa: ANN401  # any action, or none
    changed = RxFerrix(interactive=False)
    changed.table("told", "job BIGINT, name VARCHAR, result VARCHAR")
    changed.workpool(Workpool("emails", 2))
    if send_now is not None:
        changed.action(name="send")(send_now)

    @changed.mutation(name="sent", internal=True)
    def _sent(ctx: MutationCtx, work_id: JobId, context: User, result: WorkResult[Any]) -> None:
        kind = result.error.kind if isinstance(result, Failed) else repr(result)
        ctx.db.insert("told", {"job": work_id, "name": context.name, "result": kind})

    return changed


class TestTheTransaction:
    async def test_that_records_the_outcome_schedules_it(self, t: TestApp) -> None:
        t.cancel(job := await t.run_mutation(enqueue))

        completion = t.job(job).completion
        assert completion is not None
        revisions = t.sql(
            "SELECT DISTINCT revision FROM _scheduled_jobs WHERE id IN ($job, $completion)",
            job=job,
            completion=completion,
        )
        assert len(revisions) == 1
        assert t.job(completion).state == "pending"

    async def test_of_its_own_is_where_it_runs(self, t: TestApp) -> None:
        t.cancel(job := await t.run_mutation(enqueue))
        ended = t.job(job)

        await t.run_due_jobs()

        completion = t.job(ended.completion or JobId(0))
        assert (completion.function, completion.kind) == ("sent", "mutation")
        assert (completion.trigger, completion.parent) == ("on_complete", job)
        assert t.job(job) == ended

    async def test_that_enqueued_the_job_and_raised_leaves_neither(self, t: TestApp) -> None:
        with pytest.raises(LookupError):
            await t.run_mutation(enqueue, raising=True)
        await t.advance_time(HOUR)

        assert t.jobs().empty
        assert told(t) == []


class TestTheContext:
    async def test_comes_back_typed(self, t: TestApp) -> None:
        await enqueued(t)
        await t.advance_time(HOUR)

        assert t.sql("SELECT name FROM told")["name"].tolist() == ["ann"]

    async def test_that_does_not_fit_is_refused_at_the_call(self, t: TestApp) -> None:
        with pytest.raises(ArgumentsError, match="context"):
            t.scheduler.pool("emails").on_complete(sent, "ann")  # type: ignore[arg-type]

        assert t.jobs().empty

    async def test_of_something_that_is_no_mutation_is_refused(self, t: TestApp) -> None:
        with pytest.raises(NotSchedulableError):
            t.scheduler.pool("emails").on_complete(send, ANN)  # type: ignore[arg-type]

    async def test_of_a_mutation_with_other_parameters_is_refused(self, t: TestApp) -> None:
        with pytest.raises(ArgumentsError):
            t.scheduler.pool("emails").on_complete(enqueue, ANN)  # type: ignore[arg-type]

    async def test_belongs_to_the_builder_and_not_to_the_pool(self, t: TestApp) -> None:
        pool = t.scheduler.pool("emails")
        pool.on_complete(sent, ANN)

        job = await pool.enqueue(send, "ann")
        await t.advance_time(HOUR)

        assert t.job(job).completion is None
        assert told(t) == []


class TestFromAThread:
    async def test_the_blocking_verbs_do_the_same(self, t: TestApp) -> None:
        await t.scheduler.run_after(NOW, enqueueing)

        await t.advance_time(HOUR)

        assert [result for _, result in told(t)] == ["sent to ann"]


@app.action
async def enqueueing(ctx: ActionCtx) -> None:
    await ctx.scheduler.pool("emails").on_complete(sent, ANN).enqueue(send, "ann")
