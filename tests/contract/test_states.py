"""Contract 3, sentence by sentence. The clean stop needs real time, and runs with a tiny grace."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from rxferrix_lab import (
    ActionCtx,
    Identity,
    JobId,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    TestApp,
    Workpool,
    WorkResult,
)

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
START = datetime(2026, 1, 1, tzinfo=UTC)

app = RxFerrix()
app.table("notes", "text VARCHAR")
app.workpool(Workpool("pool", max_parallelism=2))


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text})


@app.mutation
def note_and_raise(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text})
    ctx.scheduler.run_after(NOW, note, "scheduled by one that raised")
    raise ValueError(text)


@app.query
def notes(ctx: QueryCtx) -> list[str]:
    return [text for (text,) in ctx.db.sql("SELECT text FROM notes ORDER BY id").fetchall()]


@app.mutation(internal=True)
def done(ctx: MutationCtx, work: JobId, text: str, result: WorkResult[None]) -> None:
    ctx.db.insert("notes", {"text": f"{text}: {type(result).__name__}"})


@app.action
async def nap(ctx: ActionCtx) -> None:
    await ctx.sleep(HOUR)


@app.action
async def fail(ctx: ActionCtx) -> None:
    raise ValueError("boom")


@app.action
async def who_calls(ctx: ActionCtx) -> str:
    return str(ctx.identity)


@app.mutation
def who_calls_the_mutation(ctx: MutationCtx) -> str:
    return str(ctx.identity)


@app.mutation
def schedule_far_ahead(ctx: MutationCtx) -> JobId:
    return ctx.scheduler.run_after(30 * DAY, note, "much later")


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as entered:
        yield entered


def log(t: TestApp, columns: str) -> list[tuple[object, ...]]:
    frame = t.sql(f"SELECT {columns} FROM _execution_log ORDER BY id")
    rows = frame.astype(object).where(frame.notna(), None).itertuples(index=False)
    return [tuple(row) for row in rows]


class TestSixStates:
    """3.1"""

    async def test_a_future_job_is_pending_with_no_attempt_begun(self, t: TestApp) -> None:
        job = t.job(await t.scheduler.run_after(HOUR, nap))

        assert (job.state, job.attempt, job.started_at) == ("pending", 0, None)

    async def test_a_running_action_has_begun_its_first_attempt(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(SECOND, nap)
        await t.advance_time(SECOND)

        assert (t.job(job).state, t.job(job).attempt) == ("running", 1)
        assert t.job(job).started_at == START + SECOND

    async def test_while_it_waits_for_its_first_retry_the_attempt_is_one(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(1).run_after(NOW, fail)
        await t.run_due_jobs()

        waiting = t.job(job)
        assert (waiting.state, waiting.attempt) == ("pending", 1)
        assert waiting.error is not None

    async def test_every_way_through_the_picture_ends_in_a_state_that_stays(
        self, t: TestApp
    ) -> None:
        succeeded = await t.scheduler.run_after(NOW, note, "a")
        failed = await t.scheduler.run_after(NOW, fail)
        canceled = await t.scheduler.run_after(HOUR, note, "b")
        stopped = await t.scheduler.run_after(NOW, nap)
        await t.run_due_jobs()
        for job in (canceled, stopped):
            await t.scheduler.cancel(job)
        await t.advance_time(2 * HOUR)

        states = [t.job(job).state for job in (succeeded, failed, canceled, stopped)]
        assert states == ["succeeded", "failed", "canceled", "canceled"]


class TestMutationsRunOnce:
    """3.2"""

    async def test_the_completion_commits_with_the_writes(self, t: TestApp) -> None:
        seen: list[tuple[int, int]] = []
        t.runtime.engine.feed.listen(
            lambda _: seen.append(
                (len(t.sql("SELECT * FROM notes")), len(t.jobs(state="succeeded")))
            )
        )
        await t.scheduler.run_after(NOW, note, "a")

        await t.run_due_jobs()

        assert all(written == ended for written, ended in seen)
        assert seen[-1] == (1, 1)

    async def test_one_that_raises_leaves_nothing_and_has_failed(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, note_and_raise, "torn")

        assert await t.run_due_jobs() == [job]

        assert await t.run_query(notes) == []
        assert len(t.jobs()) == 1
        assert (t.job(job).state, t.job(job).attempt) == ("failed", 1)

    async def test_one_that_raises_is_not_tried_again(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, note_and_raise, "torn")
        await t.run_due_jobs()

        assert await t.advance_time(DAY) == []
        assert log(t, "job, outcome, attempt") == [(job, "failed", 1)]

    async def test_its_neighbours_in_the_same_commit_are_untouched(self, t: TestApp) -> None:
        for text in "abc":
            await t.scheduler.run_after(NOW, note_and_raise if text == "b" else note, text)

        await t.run_due_jobs()

        assert await t.run_query(notes) == ["a", "c"]


class TestFoundAtTheStart:
    """3.3"""

    async def test_a_running_action_has_failed_as_interrupted(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(5).run_after(NOW, nap)
        await t.run_due_jobs()

        await t.restart(down_for=HOUR)

        found = t.job(job)
        assert (found.state, found.attempt) == ("failed", 1)
        assert found.error is not None
        assert found.error.kind == "interrupted"

    async def test_it_is_not_retried(self, t: TestApp) -> None:
        await t.scheduler.with_retries(5).run_after(NOW, nap)
        await t.run_due_jobs()
        await t.restart()

        assert await t.advance_time(DAY) == []

    async def test_a_canceling_action_is_canceled(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, nap)
        await t.run_due_jobs()
        await t.scheduler.cancel(job)

        await t.restart()

        assert t.job(job).state == "canceled"

    async def test_pending_jobs_run(self, t: TestApp) -> None:
        mutation = await t.scheduler.run_after(HOUR, note, "a")
        action = await t.scheduler.run_after(2 * HOUR, who_calls)

        await t.restart(down_for=3 * HOUR)

        assert await t.run_due_jobs() == [mutation, action]

    async def test_a_job_that_waits_for_a_retry_goes_on(self, t: TestApp) -> None:
        job = await t.scheduler.with_retries(1).run_after(NOW, fail)
        await t.run_due_jobs()

        await t.restart()
        await t.advance_time(SECOND)

        assert (t.job(job).state, t.job(job).attempt) == ("failed", 2)

    async def test_the_log_says_how_the_attempt_ended(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, nap)
        await t.run_due_jobs()

        await t.restart(down_for=HOUR)

        assert log(t, "job, outcome, attempt") == [(job, "failed", 1)]


class TestIdentity:
    """3.5"""

    async def test_scheduled_functions_run_with_none(self, t: TestApp) -> None:
        ann = t.as_user(Identity("ann", admin=True))
        jobs = [
            await ann.scheduler.run_after(NOW, who_calls),
            await ann.scheduler.run_after(NOW, who_calls_the_mutation),
        ]

        await t.run_due_jobs()

        assert [t.job(job).result for job in jobs] == ["None", "None"]
        assert log(t, "caller, identity") == [("scheduler", None), ("scheduler", None)]

    async def test_a_users_call_shows_that_user(self, t: TestApp) -> None:
        await t.as_user(Identity("ann")).run_mutation(who_calls_the_mutation)
        await t.as_user(Identity("ann")).run_action(who_calls)
        await t.run_mutation(who_calls_the_mutation)

        assert log(t, "caller, identity") == [("user", "ann"), ("user", "ann"), ("program", None)]


class TestRetention:
    """3.7"""

    @pytest.mark.parametrize("ending", ["succeeded", "failed", "canceled"])
    async def test_a_finished_job_is_there_for_seven_days(self, t: TestApp, ending: str) -> None:
        job = await finished(t, ending)

        await t.advance_time(7 * DAY - timedelta(microseconds=1))

        assert t.job(job).state == ending

    @pytest.mark.parametrize("ending", ["succeeded", "failed", "canceled"])
    async def test_it_is_gone_an_hour_later(self, t: TestApp, ending: str) -> None:
        await finished(t, ending)

        await t.advance_time(7 * DAY + HOUR)

        assert len(t.jobs()) == 0

    async def test_each_of_many_is_gone_an_hour_after_its_own_week(self, t: TestApp) -> None:
        for minute in range(0, 180, 7):
            await t.scheduler.run_after(timedelta(minutes=minute), note, str(minute))
        await t.advance_time(3 * HOUR)

        for _ in range(40):
            await t.advance_time(timedelta(minutes=17))
            if t.now() < START + 7 * DAY:
                await t.advance_time(START + 7 * DAY - t.now())
            ages = t.sql("SELECT $now - finished_at AS age FROM _scheduled_jobs", now=t.now())
            assert not len(ages) or ages["age"].max() <= 7 * DAY + HOUR

    async def test_log_rows_go_the_same_way(self, t: TestApp) -> None:
        await t.run_mutation(note, "called, and so no job")

        await t.advance_time(7 * DAY - SECOND)
        before = len(log(t, "id"))
        await t.advance_time(HOUR + SECOND)

        assert (before, len(log(t, "id"))) == (1, 0)

    async def test_the_period_is_an_option(self) -> None:
        brief = RxFerrix(keep=DAY)

        @brief.mutation
        def nothing(ctx: MutationCtx) -> None:
            """Does nothing."""

        async with TestApp(brief) as t:
            await t.scheduler.run_after(NOW, nothing)
            await t.advance_time(DAY - SECOND)
            before = len(t.jobs())
            await t.advance_time(HOUR + SECOND)

            assert (before, len(t.jobs())) == (1, 0)

    async def test_a_row_that_an_unfinished_job_refers_to_stays(self, t: TestApp) -> None:
        parent = await t.scheduler.run_after(NOW, schedule_far_ahead)

        await t.advance_time(20 * DAY)
        assert t.job(parent).state == "succeeded"
        await t.advance_time(10 * DAY + HOUR)
        assert parent not in set(t.jobs()["id"])

    async def test_the_users_own_rows_stay(self, t: TestApp) -> None:
        await t.scheduler.run_after(NOW, note, "mine")

        await t.advance_time(30 * DAY)

        assert await t.run_query(notes) == ["mine"]

    async def test_an_id_that_was_deleted_is_not_used_again(self, t: TestApp) -> None:
        job = await finished(t, "succeeded")
        await t.advance_time(8 * DAY)
        await t.restart()

        assert await t.scheduler.run_after(NOW, note, "new") > job


async def finished(t: TestApp, ending: str) -> JobId:
    job = await t.scheduler.run_after(NOW, fail if ending == "failed" else nap)
    await t.run_due_jobs()
    if ending == "canceled":
        await t.scheduler.cancel(job)
    if ending == "succeeded":
        job = await t.scheduler.run_after(NOW, note, "a")
    await t.run_due_jobs()
    return job
