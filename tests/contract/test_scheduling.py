"""Contract 2, sentence by sentence, in virtual time."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rxferrix_lab import (
    ActionCtx,
    ArgumentsError,
    InstantError,
    JobId,
    MutationCtx,
    NotSchedulableError,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    TestApp,
    UnknownJobError,
    Workpool,
)

NOW = timedelta(0)
SECOND = timedelta(seconds=1)
HOUR = timedelta(hours=1)
START = datetime(2026, 1, 1, tzinfo=UTC)

app = RxFerrix()
app.table("notes", "text VARCHAR")
app.workpool(Workpool("narrow", max_parallelism=1))


@app.mutation
def note(ctx: MutationCtx, text: str) -> int:
    return ctx.db.insert("notes", {"text": text})


@app.mutation(internal=True)
def hidden(ctx: MutationCtx) -> None:
    ctx.db.insert("notes", {"text": "hidden"})


@app.query
def notes(ctx: QueryCtx) -> list[str]:
    return [text for (text,) in ctx.db.sql("SELECT text FROM notes ORDER BY id").fetchall()]


@app.action
async def act(ctx: ActionCtx, text: str) -> None:
    await ctx.run_mutation(note, text)


@app.action
async def nap(ctx: ActionCtx, text: str) -> None:
    await ctx.run_mutation(note, f"{text} begins")
    await ctx.sleep(HOUR)


@app.action
async def fail(ctx: ActionCtx) -> None:
    raise ValueError(f"attempt {ctx.attempt}")


@app.mutation
def note_later(ctx: MutationCtx, text: str, then: str = "") -> JobId:
    job = ctx.scheduler.run_after(HOUR, note, text)
    if then == "raise":
        raise RuntimeError("on purpose")
    if then == "cancel":
        assert ctx.scheduler.cancel(job)
    return job


@app.mutation
def cancel_then_raise(ctx: MutationCtx, job: JobId) -> None:
    assert ctx.scheduler.cancel(job)
    raise RuntimeError("on purpose")


@app.mutation
def note_in_mixed_order(ctx: MutationCtx) -> None:
    for number in range(3):
        ctx.scheduler.run_after(NOW, note, f"mutation {number}")
        ctx.scheduler.run_after(NOW, act, f"action {number}")
    ctx.scheduler.run_at(ctx.now() - HOUR, note, "past, and so due now")
    ctx.scheduler.run_after(SECOND, note, "later")


@pytest.fixture
async def t() -> AsyncIterator[TestApp]:
    async with TestApp(app) as entered:
        yield entered


async def texts(t: TestApp) -> list[str]:
    return await t.run_query(notes)


class TestOneTransaction:
    """2.1: the job exists if and only if the mutation commits."""

    async def test_a_mutation_that_commits_has_scheduled(self, t: TestApp) -> None:
        job = await t.run_mutation(note_later, "a")

        assert t.job(job).state == "pending"
        assert t.job(job).due_at == START + HOUR

    async def test_a_mutation_that_raises_has_scheduled_nothing(self, t: TestApp) -> None:
        with pytest.raises(RuntimeError):
            await t.run_mutation(note_later, "a", "raise")

        assert len(t.jobs()) == 0
        assert await t.advance_time(2 * HOUR) == []

    async def test_an_actions_scheduling_commits_by_itself(self, t: TestApp) -> None:
        await t.scheduler.run_after(NOW, schedule_then_raise)

        await t.run_due_jobs()

        assert list(t.jobs(state="pending")["function"]) == ["note"]

    async def test_a_plain_def_actions_scheduling_blocks_and_commits(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, plain_scheduler)

        ran = await t.advance_time(HOUR)

        assert t.job(job).result == ran[1]
        assert await texts(t) == ["from a thread"]

    async def test_the_job_that_scheduled_is_the_parent(self, t: TestApp) -> None:
        parent = await t.scheduler.run_after(NOW, note_later, "a")
        await t.run_due_jobs()

        assert t.job(t.job(parent).result).parent == parent


@app.action
async def schedule_then_raise(ctx: ActionCtx) -> None:
    await ctx.scheduler.run_after(HOUR, note, "stays scheduled")
    raise RuntimeError("too late to take it back")


@app.action
def plain_scheduler(ctx: SyncActionCtx) -> JobId:
    return ctx.scheduler.run_after(SECOND, note, "from a thread")


class TestWhatCanBeScheduled:
    """2.2"""

    async def test_a_mutation_an_action_and_an_internal_function_can(self, t: TestApp) -> None:
        jobs = [
            await t.scheduler.run_after(NOW, note, "a"),
            await t.scheduler.run_after(NOW, act, "b"),
            await t.scheduler.run_after(NOW, hidden),
        ]

        assert await t.run_due_jobs() == jobs
        assert await texts(t) == ["a", "b", "hidden"]

    async def test_a_query_is_refused_before_anything_is_written(self, t: TestApp) -> None:
        with pytest.raises(NotSchedulableError, match="notes is a query"):
            await t.scheduler.run_after(NOW, notes)  # type: ignore[arg-type]  # what is refused

        assert len(t.jobs()) == 0

    async def test_a_plain_function_is_refused(self, t: TestApp) -> None:
        with pytest.raises(NotSchedulableError, match="not registered"):
            await t.scheduler.run_after(NOW, texts)  # type: ignore[arg-type]  # what is refused

    @pytest.mark.parametrize(
        ("args", "kwargs"),
        [
            ((), {}),
            (("a", "b"), {}),
            ((1,), {}),
            (("a",), {"colour": "red"}),
            (("a",), {"text": "b"}),
        ],
    )
    async def test_wrong_missing_or_extra_arguments_are_refused(
        self, t: TestApp, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        with pytest.raises(ArgumentsError, match="note"):
            await t.scheduler.run_after(NOW, note, *args, **kwargs)

        assert len(t.jobs()) == 0


class TestTimes:
    """2.3"""

    async def test_a_delay_counts_from_now(self, t: TestApp) -> None:
        job = t.job(await t.scheduler.run_after(90 * SECOND, note, "a"))

        assert job.scheduled_for == job.due_at == START + 90 * SECOND
        assert job.created_at == START

    @pytest.mark.parametrize(
        "when", [START + HOUR, int((START + HOUR).timestamp() * 1000)], ids=["aware", "ms"]
    )
    async def test_a_time_is_an_aware_datetime_or_unix_milliseconds(
        self, t: TestApp, when: datetime | int
    ) -> None:
        job = t.job(await t.scheduler.run_at(when, note, "a"))

        assert job.scheduled_for == job.due_at == START + HOUR

    async def test_a_past_time_is_due_now_and_kept_as_asked(self, t: TestApp) -> None:
        job = await t.scheduler.run_at(START - HOUR, note, "a")

        assert t.job(job).due_at == START
        assert t.job(job).scheduled_for == START - HOUR
        assert await t.run_due_jobs() == [job]

    @pytest.mark.parametrize(
        "when",
        [
            START.replace(tzinfo=None),
            float("nan"),
            float("inf"),
            int(START.timestamp()),
            START + timedelta(days=3700),
            datetime(1999, 12, 31, tzinfo=UTC),
        ],
    )
    async def test_a_time_that_cannot_be_meant_is_refused(self, t: TestApp, when: object) -> None:
        with pytest.raises(InstantError):
            await t.scheduler.run_at(when, note, "a")  # type: ignore[arg-type]  # refused

        assert len(t.jobs()) == 0

    @pytest.mark.parametrize("delay", [-SECOND, 60, timedelta(days=4000), None])
    async def test_a_delay_that_cannot_be_meant_is_refused(self, t: TestApp, delay: object) -> None:
        with pytest.raises(InstantError):
            await t.scheduler.run_after(delay, note, "a")  # type: ignore[arg-type]  # refused

        assert len(t.jobs()) == 0

    async def test_a_refused_time_inside_a_mutation_is_an_ordinary_error(self, t: TestApp) -> None:
        caught = await t.run_mutation(note_at_a_naive_time)

        assert "no time zone" in caught
        assert len(t.jobs()) == 0


@app.mutation
def note_at_a_naive_time(ctx: MutationCtx) -> str:
    try:
        ctx.scheduler.run_at(ctx.now().replace(tzinfo=None), note, "a")
    except InstantError as error:
        return str(error)
    return ""


class TestOrder:
    """2.4: due jobs, mutations and actions alike, in order of (due time, id)."""

    async def test_mutations_and_actions_are_taken_in_one_order(self, t: TestApp) -> None:
        await t.run_mutation(note_in_mixed_order)

        await t.advance_time(HOUR)

        assert await texts(t) == [
            "mutation 0",
            "action 0",
            "mutation 1",
            "action 1",
            "mutation 2",
            "action 2",
            "past, and so due now",
            "later",
        ]

    async def test_an_earlier_due_time_comes_before_a_smaller_id(self, t: TestApp) -> None:
        late = await t.scheduler.run_after(2 * HOUR, note, "late")
        early = await t.scheduler.run_after(HOUR, act, "early")

        assert await t.advance_time(3 * HOUR) == [early, late]

    async def test_the_order_survives_a_restart_that_finds_all_of_them_due(
        self, t: TestApp
    ) -> None:
        jobs: list[JobId] = []
        for number in range(6):
            fn = act if number % 2 else note
            jobs.append(await t.scheduler.run_after((6 - number) * SECOND, fn, str(number)))

        await t.restart(down_for=HOUR)

        assert await t.run_due_jobs() == jobs[::-1]
        assert await texts(t) == ["5", "4", "3", "2", "1", "0"]

    async def test_a_job_without_a_slot_lets_later_ones_pass(self, t: TestApp) -> None:
        pool = t.scheduler.pool("narrow")
        first = await pool.enqueue(nap, "first")
        second = await pool.enqueue(nap, "second")
        third = await t.scheduler.run_after(NOW, note, "third")

        assert await t.run_due_jobs() == [first, third]
        assert await t.advance_time(HOUR) == [second]

    async def test_an_action_begins_once_its_claim_has_committed(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, look_at_myself)

        await t.run_due_jobs()

        assert t.job(job).result == "running"


@app.query
def state_of(ctx: QueryCtx, job: JobId) -> str:
    return str(ctx.db.sql("SELECT state FROM _scheduled_jobs WHERE id = $job", job=job).scalar())


@app.action
async def look_at_myself(ctx: ActionCtx) -> str:
    assert ctx.job_id is not None
    return await ctx.run_query(state_of, ctx.job_id)


class TestCancel:
    """2.5"""

    async def test_true_where_this_call_stopped_it(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(HOUR, note, "a")

        assert await t.scheduler.cancel(job) is True
        assert await t.advance_time(2 * HOUR) == []

    async def test_true_where_this_call_is_stopping_it(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, nap, "a")
        await t.run_due_jobs()

        assert await t.scheduler.cancel(job) is True
        assert t.job(job).state == "canceling"

    async def test_false_where_it_had_ended(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(NOW, note, "a")
        await t.run_due_jobs()

        assert await t.scheduler.cancel(job) is False
        assert t.job(job).state == "succeeded"

    @pytest.mark.parametrize("runs", [True, False])
    async def test_false_where_it_was_canceled_already(self, t: TestApp, runs: bool) -> None:
        job = await t.scheduler.run_after(NOW, nap, "a")
        if runs:
            await t.run_due_jobs()
        await t.scheduler.cancel(job)

        assert await t.scheduler.cancel(job) is False

    async def test_an_unknown_id_raises(self, t: TestApp) -> None:
        with pytest.raises(UnknownJobError):
            await t.scheduler.cancel(JobId(404))

    async def test_scheduled_and_canceled_in_one_transaction_never_runs(self, t: TestApp) -> None:
        job = await t.run_mutation(note_later, "a", "cancel")

        assert await t.advance_time(2 * HOUR) == []
        assert t.job(job).state == "canceled"
        assert t.job(job).attempt == 0

    async def test_a_mutation_that_raises_has_canceled_nothing(self, t: TestApp) -> None:
        job = await t.scheduler.run_after(HOUR, note, "a")

        with pytest.raises(RuntimeError):
            await t.run_mutation(cancel_then_raise, job)

        assert t.job(job).state == "pending"
        assert await t.advance_time(HOUR) == [job]
