"""What an action prints and logs is kept with its attempt."""

import logging
import sys
from datetime import timedelta

import anyio

from rxferrix_lab import ActionCtx, JobId, MutationCtx, RxFerrix, SyncActionCtx, TestApp
from rxferrix_lab.app.output import CUT_NOTE, MOST_KEPT, captured

app = RxFerrix(interactive=True)
logger = logging.getLogger("reports")


@app.action
async def report(ctx: ActionCtx, name: str) -> None:
    print(f"{name} begins")  # noqa: T201  # what is under test
    await ctx.sleep(timedelta(minutes=1))
    logger.warning("%s is slow", name)


@app.action
def report_in_a_thread(ctx: SyncActionCtx, name: str) -> None:
    print(f"{name} begins")  # noqa: T201  # what is under test
    ctx.sleep(timedelta(minutes=1))
    logger.warning("%s is slow", name)


@app.action
def talkative(ctx: SyncActionCtx) -> None:
    print("x" * (MOST_KEPT + 1000))  # noqa: T201  # what is under test


@app.action
def odd(ctx: SyncActionCtx) -> None:
    print("before\0after \udc80")  # noqa: T201  # what is under test


@app.action
async def outer(ctx: ActionCtx) -> None:
    await ctx.run_action(odd)


@app.mutation
def both(ctx: MutationCtx) -> list[JobId]:
    now = timedelta(0)
    return [
        ctx.scheduler.run_after(now, report, "ann"),
        ctx.scheduler.run_after(now, report_in_a_thread, "bob"),
    ]


def output_of(t: TestApp, job: JobId) -> str:
    rows = t.sql("SELECT output FROM _execution_log WHERE job = $job AND output != ''", job=job)
    return str(rows["output"].iloc[0])


async def test_two_attempts_at_once_keep_their_output_apart() -> None:
    async with TestApp(app) as t:
        ann, bob = await t.run_mutation(both)

        await t.advance_time(timedelta(minutes=5))

        assert output_of(t, ann) == "ann begins\nWARNING reports: ann is slow\n"
        assert output_of(t, bob) == "bob begins\nWARNING reports: bob is slow\n"


async def test_output_beyond_64_kb_is_cut_with_a_note() -> None:
    async with TestApp(app) as t:
        job = await t.scheduler.run_after(timedelta(0), talkative)

        await t.run_due_jobs()

        assert output_of(t, job) == "x" * MOST_KEPT + CUT_NOTE


async def test_text_that_no_database_holds_is_kept_escaped() -> None:
    async with TestApp(app) as t:
        job = await t.scheduler.run_after(timedelta(0), odd)

        await t.run_due_jobs()

        assert output_of(t, job) == "before\\x00after \\udc80\n"


async def test_what_an_inner_action_prints_belongs_to_the_outer_attempt() -> None:
    async with TestApp(app) as t:
        job = await t.scheduler.run_after(timedelta(0), outer)

        await t.run_due_jobs()

        assert output_of(t, job).startswith("before")


async def test_stdout_and_logging_are_put_back_after_the_last_capture() -> None:
    stdout, factory = sys.stdout, logging.getLogRecordFactory()

    with captured([], passes_on=False):
        assert sys.stdout is not stdout
        await anyio.lowlevel.checkpoint()

    assert sys.stdout is stdout
    assert logging.getLogRecordFactory() is factory


def test_logging_can_be_set_up_while_something_is_captured() -> None:
    root = logging.getLogger()
    handlers = list(root.handlers)

    with captured([], passes_on=False):
        assert root.handlers == handlers
