"""Contract 1.1 and 1.5: what a context gives, and for how long."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import anyio
import pytest

from rxferrix_lab import (
    MutationCtx,
    QueryCtx,
    RxFerrix,
    TestApp,
)
from rxferrix_lab.errors import (
    DeadContextError,
)
from tests.contract.small_program import NOW, notes


class TestContext:
    async def test_now_is_fixed_for_one_execution(self) -> None:
        app = RxFerrix()

        @app.mutation
        def look_twice(ctx: MutationCtx) -> list[datetime]:
            first = ctx.now()
            t.set_clock(first + timedelta(hours=1))
            return [first, ctx.now()]

        t = TestApp(app)
        async with t:
            first, second = await t.run_mutation(look_twice)

            assert first == second == datetime(2026, 1, 1, tzinfo=UTC)
            assert first.tzinfo is UTC

    async def test_a_mutations_context_is_dead_once_it_returned(self) -> None:
        app = notes()
        kept: list[MutationCtx] = []

        @app.mutation
        def keep(ctx: MutationCtx) -> None:
            kept.append(ctx)

        async with TestApp(app) as t:
            await t.run_mutation(keep)
            ctx = kept[0]

            for use in (
                lambda: ctx.db.insert("notes", {"text": "late"}),
                lambda: ctx.db.sql("SELECT 1"),
                lambda: ctx.db.get("notes", 1),
                lambda: ctx.scheduler.run_after(NOW, keep),
                lambda: ctx.scheduler.cancel(1),  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
                lambda: ctx.random.random(),
                lambda: ctx.now(),
            ):
                with pytest.raises(DeadContextError, match="keep"):
                    use()
            assert t.sql("SELECT * FROM notes").empty

    async def test_a_querys_context_is_dead_once_it_returned(self) -> None:
        app = notes()
        kept: list[QueryCtx] = []

        @app.query
        def keep(ctx: QueryCtx) -> None:
            kept.append(ctx)

        async with TestApp(app) as t:
            await t.run_query(keep)

            with pytest.raises(DeadContextError, match="keep"):
                kept[0].db.sql("SELECT 1")
            with pytest.raises(DeadContextError):
                kept[0].db.get("notes", 1)

    async def test_a_query_reads_one_snapshot_while_others_write(self, tmp_path: Path) -> None:
        app = RxFerrix(tmp_path / "a.duckdb").table("notes", "text VARCHAR")
        looked, written = anyio.Event(), anyio.Event()

        @app.mutation
        def add(ctx: MutationCtx) -> int:
            return ctx.db.insert("notes", {"text": "x"})

        @app.query
        def look_twice(ctx: QueryCtx) -> list[int]:
            first = ctx.db.sql("SELECT count(*) FROM notes").scalar()
            anyio.from_thread.run(meet, token=token)
            return [first, ctx.db.sql("SELECT count(*) FROM notes").scalar()]

        async def meet() -> None:
            looked.set()
            await written.wait()

        async def write() -> None:
            await looked.wait()
            await app.run_mutation(add)
            written.set()

        async with app, anyio.create_task_group() as tasks:
            token = anyio.lowlevel.current_token()
            tasks.start_soon(write)

            assert await app.run_query(look_twice) == [0, 0]
