"""Contract 1.6: a mutation that raised, or swallowed a database error, leaves nothing behind."""

from datetime import timedelta
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab import ActionCtx, JobId, MutationCtx, RxFerrix, TestApp
from rxferrix_lab.errors import (
    ForbiddenStatementError,
    ReservedTableError,
    SwallowedDatabaseError,
    TableError,
    UnknownRowError,
)

NOW = timedelta(0)
LATER = timedelta(days=1)


class RefusedError(Exception):
    """What a function of these tests raises of its own accord."""


class UnprintableError(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def notes(database: str | Path = ":memory:") -> RxFerrix:
    return RxFerrix(database, interactive=True).table("notes", "text VARCHAR, size INTEGER")


def add(ctx: MutationCtx, text: str) -> int:
    return ctx.db.insert("notes", {"text": text})


def texts(app: RxFerrix | TestApp) -> list[str]:
    return list(app.sql("SELECT text FROM notes ORDER BY text").text)


class TestNothingLeftBehind:
    async def test_a_mutation_that_raises_leaves_no_row_no_job_and_no_cancellation(self) -> None:
        app = notes()

        @app.mutation
        def later(ctx: MutationCtx) -> None: ...

        @app.mutation
        def fail(ctx: MutationCtx, job: JobId) -> None:
            add(ctx, "held back")
            ctx.db.sql("INSERT INTO notes VALUES (9, 'sent', 1)")
            ctx.scheduler.run_after(NOW, later)
            assert ctx.scheduler.cancel(job)
            raise RefusedError

        async with TestApp(app) as t:
            job = await t.scheduler.run_after(LATER, later)
            with pytest.raises(RefusedError):
                await t.run_mutation(fail, job)

            assert texts(t) == []
            assert list(t.jobs().id) == [job]
            assert t.job(job).state == "pending"

    @pytest.mark.parametrize(
        "error", [RefusedError, SystemExit, KeyboardInterrupt, UnprintableError]
    )
    async def test_whatever_it_raises_reaches_the_caller_and_the_app_goes_on(
        self, error: type[BaseException]
    ) -> None:
        app = notes()

        @app.mutation
        def fail(ctx: MutationCtx) -> None:
            add(ctx, "bad")
            raise error

        app.mutation(name="add")(add)
        async with TestApp(app) as t:
            with pytest.raises(error):
                await t.run_mutation(fail)
            job = await t.scheduler.run_after(NOW, fail)
            await t.run_due_jobs()
            await t.run_mutation("add", "good")

            assert t.job(job).state == "failed"
            assert texts(t) == ["good"]
            assert list(t.sql("SELECT outcome FROM _execution_log ORDER BY id").outcome) == [
                "failed", "failed", "succeeded",
            ]  # fmt: skip

    async def test_definitions_are_rolled_back_with_the_rest(self) -> None:
        app = notes()

        @app.mutation
        def define(ctx: MutationCtx, fails: bool) -> int:
            ctx.db.sql("CREATE TABLE words (id BIGINT, word VARCHAR)")
            ctx.db.sql("CREATE VIEW short AS SELECT * FROM words WHERE len(word) < 4")
            ctx.db.insert("words", {"word": "cat"})
            if fails:
                raise RefusedError
            return int(ctx.db.sql("SELECT count(*) FROM short").scalar())

        async with TestApp(app) as t:
            with pytest.raises(RefusedError):
                await t.run_mutation(define, True)
            with pytest.raises(duckdb.CatalogException):
                t.sql("SELECT * FROM words")

            assert await t.run_mutation(define, False) == 1

    @pytest.mark.parametrize(
        "cause",
        [
            "INSERT INTO notes VALUES (1, 'x', 'no number')",
            "SELECT * FROM nowhere",
            "SELECT no_such_column FROM notes",
            "SELEKT",
            "DROP TABLE _scheduled_jobs",
            "COPY notes TO 'notes.csv'",
        ],
    )
    async def test_a_mutation_that_swallowed_a_database_error_fails(self, cause: str) -> None:
        app = notes()

        @app.mutation
        def swallow(ctx: MutationCtx) -> int:
            add(ctx, "lost")
            try:
                ctx.db.sql(cause)
            except (duckdb.Error, ForbiddenStatementError, ReservedTableError):
                return 0
            return 1

        async with TestApp(app) as t:
            with pytest.raises(SwallowedDatabaseError, match="swallow caught a database error"):
                await t.run_mutation(swallow)

            assert texts(t) == []

    @pytest.mark.parametrize("verb", ["insert", "patch", "delete"])
    async def test_one_that_swallowed_the_error_of_a_verb_fails(self, verb: str) -> None:
        app = notes()

        @app.mutation
        def swallow(ctx: MutationCtx) -> None:
            row = add(ctx, "lost")
            ctx.db.delete("notes", row)
            try:
                if verb == "insert":
                    ctx.db.insert("notes", {"colour": "red"})
                elif verb == "patch":
                    ctx.db.patch("notes", row, {"text": "x"})
                else:
                    ctx.db.delete("notes", row)
            except (TableError, UnknownRowError):
                return

        async with TestApp(app) as t:
            with pytest.raises(SwallowedDatabaseError):
                await t.run_mutation(swallow)


async def test_an_action_is_outside_any_transaction() -> None:
    app = notes()

    app.mutation(name="add")(add)

    @app.action
    async def half(ctx: ActionCtx) -> None:
        await ctx.run_mutation(app.registry.functions["add"], "kept")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        raise RefusedError

    async with TestApp(app) as t:
        with pytest.raises(RefusedError):
            await t.run_action(half)

        assert texts(t) == ["kept"]
