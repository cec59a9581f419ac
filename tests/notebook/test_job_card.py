"""A job as a card, and as text."""

from datetime import timedelta

from rxferrix_lab import ActionCtx, JobId, RxFerrix, TestApp
from rxferrix_lab.notebook.job_card import job_html, job_text

app = RxFerrix(interactive=True)


@app.action
async def send(ctx: ActionCtx, to: str) -> str:
    ctx.progress(1, 4, "a <b>quarter</b>")
    print(f"dear {to}")  # noqa: T201  # what is under test
    await ctx.sleep(timedelta(minutes=1))
    return to.upper()


@app.action
async def fails(ctx: ActionCtx) -> None:
    raise ValueError("<script>alert(1)</script>")


async def scheduled(t: TestApp, after: timedelta) -> JobId:
    return await t.scheduler.run_after(after, send, "ann")


async def test_pending_job_tells_when_it_is_due() -> None:
    async with TestApp(app) as t:
        job = await scheduled(t, timedelta(hours=2))

        assert job_text(t.handle(job).glance()) == (
            'pending send(to="ann"), job 1\n'
            "  asked 2026-01-01 00:00:00 UTC → due 2 h later (due in 2 h)"
        )


async def test_running_job_tells_its_progress_and_what_it_prints() -> None:
    async with TestApp(app) as t:
        job = await scheduled(t, timedelta(0))
        await t.advance_time(timedelta(seconds=30))

        text = job_text(t.handle(job).glance())

        assert "(for 30.0 s now)" in text
        assert "progress 25% a <b>quarter</b>" in text
        assert "| dear ann" in text


async def test_ended_job_tells_its_result_and_how_long_it_took() -> None:
    async with TestApp(app) as t:
        job = await scheduled(t, timedelta(0))
        await t.advance_time(timedelta(hours=1))

        look = t.handle(job).glance()

        assert look.is_finished
        assert "ended 1 min later" in job_text(look)
        assert 'result "ANN"' in job_text(look)


async def test_what_comes_from_a_user_is_escaped() -> None:
    async with TestApp(app) as t:
        job = await scheduled(t, timedelta(0))
        bad = await t.scheduler.run_after(timedelta(0), fails)
        await t.advance_time(timedelta(hours=1))

        shown = job_html(t.handle(job).glance()) + job_html(t.handle(bad).glance())

        assert "a &lt;b&gt;quarter&lt;/b&gt;" in shown
        assert "<script>" not in shown


async def test_failed_job_shows_its_error_with_the_traceback_to_open() -> None:
    async with TestApp(app) as t:
        bad = await t.scheduler.run_after(timedelta(0), fails)
        await t.run_due_jobs()

        shown = job_html(t.handle(bad).glance())

        assert "<details><summary>" in shown
        assert "raise ValueError" in shown
