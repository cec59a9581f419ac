"""Contract 3.6: jobs whose function is no longer registered."""

from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from rxferrix_lab import (
    ActionCtx,
    JobId,
    MutationCtx,
    RxFerrix,
    TestApp,
)

NOW = timedelta(0)
SECOND = timedelta(seconds=1)


def stored_jobs_of(path: Path) -> Path:
    """A database whose three pending jobs are of two functions that no later app knows."""
    old = RxFerrix(path)

    @old.mutation
    def gone(ctx: MutationCtx) -> str:
        return "ran"

    @old.action
    async def gone_too(ctx: ActionCtx) -> str:
        return "ran"

    async def schedule() -> None:
        async with TestApp(old, database=path) as t:
            await t.scheduler.run_after(NOW, gone)
            await t.scheduler.run_after(NOW, gone_too)
            await t.scheduler.run_after(2 * SECOND, gone)

    anyio.run(schedule)
    return path


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    return stored_jobs_of(tmp_path / "app.duckdb")


class TestUnknownFunctions:
    async def test_their_jobs_fail_with_that_cause(self, old_file: Path) -> None:
        async with TestApp(RxFerrix(interactive=False), database=old_file) as t:
            await t.advance_time(2 * SECOND)

            errors = [t.job(JobId(job)).error for job in (1, 2, 3)]
        assert {error.kind for error in errors if error} == {"unknown function"}

    async def test_they_hold_nothing_else_up(self, old_file: Path) -> None:
        new = RxFerrix(interactive=True)

        @new.mutation
        def known(ctx: MutationCtx) -> None:
            """Does nothing."""

        async with TestApp(new, database=old_file) as t:
            job = await t.scheduler.run_after(NOW, known)

            assert await t.run_due_jobs() == [job]

    async def test_an_interactive_app_waits_sixty_seconds_first(self, old_file: Path) -> None:
        async with TestApp(RxFerrix(interactive=True), database=old_file) as t:
            await t.advance_time(59 * SECOND)
            before = t.jobs(state="pending")
            await t.advance_time(SECOND)
            after = t.jobs(state="pending")
            await t.advance_time(2 * SECOND)

            assert sorted(before["id"]) == [1, 2, 3]
            assert sorted(after["id"]) == [3]
            assert len(t.jobs(state="failed")) == 3

    async def test_a_cell_that_runs_meanwhile_lets_them_run(self, old_file: Path) -> None:
        new = RxFerrix(interactive=True)
        async with TestApp(new, database=old_file) as t:
            await t.advance_time(30 * SECOND)

            @new.mutation(name="gone")
            def again(ctx: MutationCtx) -> str:
                return "ran late"

            await t.reconcile()
            assert await t.run_due_jobs() == [1, 3]
            assert t.job(JobId(1)).result == "ran late"

    async def test_a_waiting_action_holds_no_slot(self, old_file: Path) -> None:
        new = RxFerrix(interactive=True, parallelism=1)

        @new.action
        async def known(ctx: ActionCtx) -> None:
            """Does nothing."""

        async with TestApp(new, database=old_file) as t:
            job = await t.scheduler.run_after(NOW, known)

            assert await t.run_due_jobs() == [job]
