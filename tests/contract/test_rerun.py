"""Contract 6.3: an admin can run again what failed or was canceled, completions included."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx
from rxferrix_lab.domain.job import Job, JobId
from rxferrix_lab.domain.outcome import WorkResult
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.engine.program import Identity
from rxferrix_lab.errors import NotRerunnableError, PermissionDeniedError, UnknownJobError
from rxferrix_lab.testing import TestApp

NOW = timedelta(0)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)

app = RxFerrix(interactive=False)
app.table("told", "job BIGINT, result VARCHAR")
app.table("mended", "who VARCHAR")
app.workpool(Workpool("emails", 2))


@app.action
async def send(ctx: ActionCtx, to: str) -> str:
    await ctx.sleep(MINUTE)
    if ctx.attempt < 3 and to == "bob":
        raise LookupError(to)
    return to


@app.mutation
def mend(ctx: MutationCtx) -> None:
    ctx.db.insert("mended", {"who": "an operator"})


@app.mutation
def sent(ctx: MutationCtx, work_id: JobId, context: str, result: WorkResult[str]) -> None:
    ctx.db.insert("told", {"job": work_id, "result": type(result).__name__})
    if context == "broken" and not ctx.db.sql("SELECT 1 FROM mended").fetchall():
        raise LookupError("the completion is broken")


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as stepped:
        yield stepped


def told(t: TestApp) -> list[int]:
    return [int(job) for job in t.sql("SELECT job FROM told ORDER BY id")["job"]]


async def ended(t: TestApp, context: str = "whole") -> Job:
    """A pooled job with a completion that was canceled in its queue."""
    pool = t.scheduler.pool("emails").on_complete(sent, context).with_retries(2)
    job = await pool.enqueue_after(HOUR, send, "ann")
    t.cancel(job)
    await t.run_due_jobs()
    return t.job(job)


class TestAFailingCompletion:
    async def test_is_a_failed_job_like_any_other(self, t: TestApp) -> None:
        parent = await ended(t, "broken")

        completion = t.job(parent.completion or JobId(0))

        assert (completion.state, completion.attempt) == ("failed", 1)
        assert completion.error is not None
        assert completion.error.message == "the completion is broken"

    async def test_leaves_nothing_behind(self, t: TestApp) -> None:
        await ended(t, "broken")

        assert told(t) == []

    async def test_is_shown_on_its_parent(self, t: TestApp) -> None:
        parent = await ended(t, "broken")

        assert parent.state == "canceled"
        assert t.job(parent.completion or JobId(0)).parent == parent.id

    async def test_can_be_run_again(self, t: TestApp) -> None:
        parent = await ended(t, "broken")
        await t.run_mutation(mend)

        again = t.rerun(parent.completion or JobId(0))
        await t.run_due_jobs()

        assert t.job(again).state == "succeeded"
        assert told(t) == [parent.id]


class TestTheNewJob:
    async def test_has_the_same_function_arguments_pool_and_retries(self, t: TestApp) -> None:
        old = await ended(t)

        new = t.job(t.rerun(old.id))

        assert (new.function, new.kind, new.args) == (old.function, old.kind, old.args)
        assert (new.pool, new.max_attempts) == (old.pool, old.max_attempts) == ("emails", 3)

    async def test_has_the_trigger_manual_and_is_due_now(self, t: TestApp) -> None:
        old = await ended(t)

        new = t.job(t.rerun(old.id))

        assert (new.trigger, new.state, new.attempt) == ("manual", "pending", 0)
        assert new.due_at == new.scheduled_for == new.created_at == t.now()

    async def test_has_the_same_on_complete(self, t: TestApp) -> None:
        old = await ended(t)

        new = t.rerun(old.id)
        await t.advance_time(HOUR)

        assert t.job(new).state == "succeeded"
        assert told(t) == [old.id, new]

    async def test_is_tried_as_often_as_the_old_one(self, t: TestApp) -> None:
        job = await t.scheduler.pool("emails").with_retries(1).enqueue(send, "bob")
        await t.advance_time(HOUR)
        assert t.job(job).state == "failed"

        again = t.rerun(job)
        await t.advance_time(HOUR)

        assert (t.job(again).state, t.job(again).attempt) == ("failed", 2)

    async def test_leaves_the_old_one_as_it_was(self, t: TestApp) -> None:
        old = await ended(t)

        t.rerun(old.id)
        await t.advance_time(HOUR)

        assert t.job(old.id) == old


class TestRefusals:
    @pytest.mark.parametrize("state", ["pending", "running", "canceling", "succeeded"])
    async def test_of_a_job_in_any_other_state(self, t: TestApp, state: str) -> None:
        job = await t.scheduler.run_after(MINUTE, send, "ann")
        await t.advance_time({"pending": NOW, "succeeded": HOUR}.get(state, MINUTE))
        if state == "canceling":
            t.cancel(job)
        assert t.job(job).state == state

        with pytest.raises(NotRerunnableError, match=state):
            t.rerun(job)

        assert len(t.jobs()) == 1

    async def test_of_an_unknown_job(self, t: TestApp) -> None:
        with pytest.raises(UnknownJobError):
            t.rerun(JobId(404))

    async def test_of_a_viewer(self, t: TestApp) -> None:
        old = await ended(t)

        with pytest.raises(PermissionDeniedError):
            t.as_user(Identity("viewer")).rerun(old.id)

        assert t.as_user(Identity("boss", admin=True)).rerun(old.id) > old.id
