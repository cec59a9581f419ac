"""Contract 7.2: a subscription yields after the commits that matter to it, and only then."""

import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from rxferrix_lab import Identity, MutationCtx, Query, QueryCtx, RxFerrix, TestApp, Workpool
from rxferrix_lab.errors import ArgumentsError, NotRunningError, PermissionDeniedError

Seen = list[Any]  # what a query of these tests gives


@asynccontextmanager
async def following(t: TestApp, fn: Query[[], Any]) -> AsyncGenerator[Seen, None]:
    """Collects what a subscription yields while the block runs."""
    seen: Seen = []

    async def follow() -> None:
        async for value in t.subscribe(fn):
            seen.append(value)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(follow)
        await anyio.wait_all_tasks_blocked()
        yield seen
        tasks.cancel_scope.cancel()


class Sample:
    """An app with two tables, and a way to write to them."""

    def __init__(self) -> None:
        self.app = RxFerrix(interactive=True)
        self.app.table("notes", "text VARCHAR").table("other", "text VARCHAR")

        def count(ctx: QueryCtx) -> int:
            return int(ctx.db.sql("SELECT count(*) FROM notes").scalar())

        self.count = self.app.query(count)

    def query(self, sql: str) -> Query[[], Any]:
        def read(ctx: QueryCtx) -> list[list[int | str | None]]:
            return [list(row) for row in ctx.db.sql(sql).fetchall()]

        return self.app.query(name="read")(read)

    async def do(self, t: TestApp, body: Callable[[MutationCtx], object]) -> None:
        def run(ctx: MutationCtx) -> None:
            body(ctx)

        await t.run_mutation(self.app.mutation(name="run")(run))
        await anyio.wait_all_tasks_blocked()


def add(ctx: MutationCtx) -> int:
    return ctx.db.insert("notes", {"text": "a"})


def add_other(ctx: MutationCtx) -> int:
    return ctx.db.insert("other", {"text": "a"})


class TestYields:
    async def test_it_yields_now_and_after_each_commit_that_changed_its_table(self) -> None:
        sample = Sample()
        async with TestApp(sample.app) as t, following(t, sample.count) as seen:
            assert seen == [0]
            await sample.do(t, add)
            await sample.do(t, lambda ctx: ctx.db.sql("INSERT INTO notes VALUES (50, 'x')"))
            await sample.do(t, lambda ctx: ctx.db.delete("notes", 50))

            assert seen == [0, 1, 2, 1]

    async def test_other_commits_do_not_concern_it(self) -> None:
        sample = Sample()
        async with TestApp(sample.app) as t, following(t, sample.count) as seen:
            await sample.do(t, add_other)
            await sample.do(t, lambda ctx: ctx.db.sql("SELECT * FROM notes"))

            assert seen == [0]

    async def test_it_never_shows_what_was_not_committed(self) -> None:
        sample = Sample()

        def fail(ctx: MutationCtx) -> None:
            add(ctx)
            ctx.db.sql("INSERT INTO notes VALUES (50, 'x')")
            raise ValueError

        async with TestApp(sample.app) as t, following(t, sample.count) as seen:
            with pytest.raises(ValueError, match=r"^$"):
                await sample.do(t, fail)
            await anyio.wait_all_tasks_blocked()

            assert set(seen) == {0}

    async def test_views_and_macros_are_followed_to_their_tables(self) -> None:
        sample = Sample()

        def define(ctx: MutationCtx) -> None:
            ctx.db.sql("CREATE VIEW inner_view AS SELECT text FROM NOTES")
            ctx.db.sql("CREATE VIEW outer_view AS SELECT text FROM inner_view")
            ctx.db.sql("CREATE MACRO size() AS (SELECT count(*) FROM outer_view)")

        async with TestApp(sample.app) as t:
            await sample.do(t, define)
            async with following(t, sample.query("SELECT size()")) as seen:
                await sample.do(t, add)
                await sample.do(t, add_other)

                assert seen == [[[0]], [[1]]]

    async def test_a_view_that_is_defined_anew_is_looked_at_again(self) -> None:
        sample = Sample()
        async with TestApp(sample.app) as t:
            await sample.do(t, lambda ctx: ctx.db.sql("CREATE VIEW size AS SELECT 1 AS n"))
            async with following(t, sample.query("SELECT n FROM size")) as seen:
                await sample.do(
                    t, lambda ctx: ctx.db.sql("CREATE OR REPLACE VIEW size AS SELECT 2 AS n")
                )

                assert seen == [[[1]], [[2]]]

    async def test_get_counts_as_reading(self) -> None:
        sample = Sample()

        @sample.app.query
        def first(ctx: QueryCtx) -> bool:
            return ctx.db.get("Notes", 1) is not None

        async with TestApp(sample.app) as t, following(t, first) as seen:
            await sample.do(t, add)

            assert seen == [False, True]

    async def test_what_a_query_reads_may_change_from_one_time_to_the_next(self) -> None:
        sample = Sample()

        @sample.app.query
        def hops(ctx: QueryCtx) -> str:
            if ctx.db.sql("SELECT count(*) FROM notes").scalar() == 0:
                return "empty"
            return f"other {ctx.db.sql('SELECT count(*) FROM other').scalar()}"

        async with TestApp(sample.app) as t, following(t, hops) as seen:
            await sample.do(t, add_other)
            await sample.do(t, add)
            await sample.do(t, add_other)

            assert seen == ["empty", "other 1", "other 2"]

    async def test_the_schedulers_tables_are_followed(self) -> None:
        sample = Sample()
        jobs = sample.query("SELECT function, state FROM _scheduled_jobs")

        @sample.app.mutation
        def work(ctx: MutationCtx) -> None: ...

        async with TestApp(sample.app) as t, following(t, jobs) as seen:
            await t.scheduler.run_after(timedelta(hours=1), work)
            await anyio.wait_all_tasks_blocked()
            await t.advance_time(timedelta(hours=1))
            await anyio.wait_all_tasks_blocked()

            assert seen == [[], [["work", "pending"]], [["work", "succeeded"]]]

    @pytest.mark.parametrize(
        ("table", "verb", "args"),
        [
            ("_execution_log", "pause_cron", ("beat",)),
            ("_crons", "pause_cron", ("beat",)),
            ("_workpools", "resize_pool", ("emails", 7)),
        ],
    )
    async def test_what_an_operator_changes_is_followed(
        self, table: str, verb: str, args: tuple[object, ...]
    ) -> None:
        sample = Sample()
        sample.app.workpool(Workpool("emails", max_parallelism=1))

        @sample.app.mutation
        def work(ctx: MutationCtx) -> None: ...

        sample.app.cron("beat", "0 0 0 1 1 *", work)
        rows = sample.query(f"SELECT count(*), max(t::VARCHAR) FROM {table} AS t")
        async with TestApp(sample.app) as t, following(t, rows) as seen:
            getattr(t, verb)(*args)
            await anyio.wait_all_tasks_blocked()

            assert len(seen) == 2
            assert seen[0] != seen[1]


class TestBeginningAndEnd:
    async def test_arguments_and_permission_are_checked_at_once(self) -> None:
        sample = Sample()

        @sample.app.query(internal=True)
        def secret(ctx: QueryCtx) -> int:
            return 1

        async with TestApp(sample.app) as t:
            with pytest.raises(ArgumentsError):
                t.subscribe(sample.count, 1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
            with pytest.raises(PermissionDeniedError):
                t.as_user(Identity("ann")).subscribe(secret)

    async def test_it_stops_listening_when_it_is_closed_or_cancelled(self) -> None:
        sample = Sample()
        async with TestApp(sample.app) as t:
            feed = t.runtime.engine.feed
            before = feed.listeners
            subscription = cast("AsyncGenerator[int, None]", t.subscribe(sample.count))
            assert await anext(subscription) == 0
            assert feed.listeners == before + 1
            await subscription.aclose()
            assert feed.listeners == before
            async with following(t, sample.count):
                assert feed.listeners == before + 1
            assert feed.listeners == before

    async def test_an_error_of_the_query_ends_it(self) -> None:
        sample = Sample()
        wrong = sample.query("SELECT 1 / text::INTEGER FROM notes")
        async with TestApp(sample.app) as t:
            subscription = t.subscribe(wrong)
            assert await anext(subscription) == []
            await sample.do(t, add)
            with pytest.raises(Exception, match="Could not convert string 'a'"):
                await anext(subscription)
            assert t.runtime.engine.feed.listeners == 0

    @pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the app has a loop of its own
    async def test_whoever_follows_or_waits_is_told_when_the_app_stops(
        self, tmp_path: Path
    ) -> None:
        app = RxFerrix(tmp_path / "a.duckdb")

        @app.query
        def one(ctx: QueryCtx) -> int:
            return 1

        @app.mutation
        def work(ctx: MutationCtx) -> None: ...

        app.start()
        job = await app.scheduler.run_after(timedelta(days=1), work)
        told: list[str] = []

        async def follow() -> None:
            async for value in app.subscribe(one):
                told.append(f"value {value}")  # noqa: PERF401  # it never ends, and is watched

        async def expect(doing: Callable[[], Any], name: str) -> None:
            with pytest.raises(NotRunningError):
                await doing()
            told.append(name)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(expect, follow, "follower")
            tasks.start_soon(expect, lambda: app.wait(job), "waiter")
            await anyio.wait_all_tasks_blocked()
            while "value 1" not in told:
                await anyio.lowlevel.checkpoint()
            await anyio.to_thread.run_sync(app.stop)

        assert sorted(told) == ["follower", "value 1", "waiter"]

    def test_it_can_be_followed_from_another_threads_loop(self, tmp_path: Path) -> None:
        app = RxFerrix(tmp_path / "a.duckdb").table("notes", "text VARCHAR")

        @app.query
        def count(ctx: QueryCtx) -> int:
            return int(ctx.db.sql("SELECT count(*) FROM notes").scalar())

        @app.mutation
        def write(ctx: MutationCtx) -> int:
            return add(ctx)

        seen: Seen = []
        is_following = threading.Event()

        async def follow() -> None:
            async for value in app.subscribe(count):
                seen.append(value)
                is_following.set()
                if value == 20:
                    return

        app.start()
        try:
            thread = threading.Thread(target=anyio.run, args=(follow,))
            thread.start()
            is_following.wait(30)
            for _ in range(20):
                app.call(write)
            thread.join(30)
        finally:
            app.stop()

        assert seen[0] == 0
        assert seen[-1] == 20
        assert seen == sorted(seen)
