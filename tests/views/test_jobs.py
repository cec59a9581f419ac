"""The list of jobs: what is asked for while a page of it loads is what is shown in the end."""

from typing import Any

import anyio
import pytest

from rxferrix_lab import MutationCtx, RxFerrix, TestApp
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.reactive.hub import Hub
from rxferrix_lab.reactive.model import LiveModel
from rxferrix_lab.reactive.operator import Operator
from rxferrix_lab.storage.job_search import JobPage, JobSearch, Order, Place
from rxferrix_lab.views.grid import Grid
from rxferrix_lab.views.jobs import JobList

JOBS = 120


class SlowModel(LiveModel):
    """A model whose pages come when they are let."""

    def hold(self) -> None:
        """Let no page come."""
        self._may_come = anyio.Event()

    def let(self) -> None:
        """Let them come."""
        self._may_come.set()

    async def find_jobs(
        self, search: JobSearch, order: Order, place: Place, size: int = 50
    ) -> JobPage:
        found = await super().find_jobs(search, order, place, size)
        await self._may_come.wait()
        return found


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # a page's loop is asyncio's
async def test_click_during_a_load_is_not_lost() -> None:
    app = RxFerrix(interactive=False)

    @app.mutation
    def note(ctx: MutationCtx) -> None: ...

    async with TestApp(app) as t, anyio.create_task_group() as tasks:
        for _ in range(JOBS):
            await t.scheduler.run_after(t.now() - t.now(), note)
        model = SlowModel(Hub.of(t.runtime), Operator(t.runtime, None))
        model.hold()
        jobs: Any = JobList(model, Controls())
        tasks.start_soon(jobs._loading.whole)
        await anyio.wait_all_tasks_blocked()

        jobs._go(Place("last"))
        model.let()
        await anyio.wait_all_tasks_blocked()

        grid: Grid = jobs._grid
        assert [row["_id"] for row in grid.rows][-1] == "1"
