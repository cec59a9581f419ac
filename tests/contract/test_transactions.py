"""Contract 1.5 and 1.6: a mutation is one transaction, however many share a commit."""

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import duckdb
import pytest

from rxferrix_lab import ActionCtx, JobId, Mutation, MutationCtx, QueryCtx, Rows, RxFerrix, TestApp
from rxferrix_lab.errors import (
    ForbiddenStatementError,
    ReservedTableError,
    ResultError,
    SwallowedDatabaseError,
    TableError,
    UnknownRowError,
)

NOW = timedelta(0)
LATER = timedelta(days=1)
Body = Callable[[MutationCtx], object]


class Refused(Exception):
    """What a function of these tests raises of its own accord."""


class Unprintable(Exception):
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


class Neighbours:
    """Runs mutations that share one transaction: they wait in line behind one that is held."""

    def __init__(self, app: RxFerrix) -> None:
        self._app = app
        self._is_held, self._go_on = threading.Event(), threading.Event()
        app.mutation(self.hold_writer)
        self._bodies: list[Body] = []

    def hold_writer(self, ctx: MutationCtx) -> None:
        self._is_held.set()
        self._go_on.wait(30)

    async def run(self, *bodies: Body) -> list[object]:
        """What each returned, or the error that it raised."""
        answers: list[object] = [None] * len(bodies)

        async def call(at: int, mutation: Mutation[[], Any]) -> None:
            try:
                answers[at] = await self._app.run_mutation(mutation)
            except Exception as error:  # noqa: BLE001  # the answer
                answers[at] = error

        mutations = [self._app.mutation(name=f"body{at}")(body) for at, body in enumerate(bodies)]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._app.run_mutation, "hold_writer")
            await anyio.to_thread.run_sync(self._is_held.wait)
            for at, mutation in enumerate(mutations):
                tasks.start_soon(call, at, mutation)
                await anyio.wait_all_tasks_blocked()
            self._go_on.set()
        return answers


def notes(database: str | Path = ":memory:") -> RxFerrix:
    return RxFerrix(database, interactive=True).table("notes", "text VARCHAR, size INTEGER")


def add(ctx: MutationCtx, text: str) -> int:
    return ctx.db.insert("notes", {"text": text})


def texts(app: RxFerrix | TestApp) -> list[str]:
    return list(app.sql("SELECT text FROM notes ORDER BY text").text)


class TestNeighbours:
    """Mutations that share a transaction; one of them fails."""

    async def test_what_failed_after_sql_is_undone_alone(self) -> None:
        app = notes()
        draws: dict[str, list[float]] = {"a": [], "b": []}

        def good(name: str, ctx: MutationCtx) -> int:
            draws[name].append(ctx.random.random())
            return add(ctx, name)

        def bad(ctx: MutationCtx) -> None:
            ctx.db.sql("INSERT INTO notes VALUES (50, 'bad', 1)")
            raise Refused

        async with app:
            answers = await Neighbours(app).run(partial(good, "a"), bad, partial(good, "b"))

            assert texts(app) == ["a", "b"]
            assert isinstance(answers[1], Refused)
        assert len(draws["a"]) > 1, "the group was not replayed"
        assert len(set(draws["a"])) == len(set(draws["b"])) == 1
        assert draws["a"][0] != draws["b"][0]

    @pytest.mark.parametrize("verb", ["patch", "delete"])
    async def test_an_unknown_row_fails_the_mutation_that_named_it(self, verb: str) -> None:
        app = notes()

        def bad(ctx: MutationCtx) -> None:
            add(ctx, "bad")
            if verb == "patch":
                ctx.db.patch("notes", 99, {"text": "x"})
            else:
                ctx.db.delete("notes", 99)

        async with app:
            answers = await Neighbours(app).run(
                lambda ctx: add(ctx, "a"), bad, lambda ctx: add(ctx, "b")
            )

            assert isinstance(answers[1], UnknownRowError)
            assert (answers[1].table, answers[1].row) == ("notes", 99)
            assert texts(app) == ["a", "b"]

    async def test_a_neighbour_that_reads_is_not_blamed_for_an_unknown_row(self) -> None:
        app = notes()
        async with app:
            answers = await Neighbours(app).run(
                lambda ctx: ctx.db.patch("notes", 99, {"text": "x"}),
                lambda ctx: ctx.db.sql("SELECT count(*) FROM notes").scalar(),
                lambda ctx: add(ctx, "b"),
            )

            assert isinstance(answers[0], UnknownRowError)
            assert answers[1] == 0
            assert texts(app) == ["b"]

    async def test_a_value_that_does_not_fit_fails_its_owner_at_the_commit(self) -> None:
        app = notes()
        async with app:
            answers = await Neighbours(app).run(
                lambda ctx: add(ctx, "a"),
                lambda ctx: add(ctx, "b"),
                lambda ctx: ctx.db.insert("notes", {"size": "many"}),
                lambda ctx: add(ctx, "d"),
                lambda ctx: ctx.db.insert("notes", {"size": 2**40}),
            )

            assert [isinstance(answer, duckdb.Error) for answer in answers] == [
                False, False, True, False, True,
            ]  # fmt: skip
            assert texts(app) == ["a", "b", "d"]

    async def test_a_broken_constraint_fails_its_owner_at_the_commit(self) -> None:
        app = RxFerrix(interactive=True).table("notes", "text VARCHAR UNIQUE CHECK (text <> 'no')")
        async with app:
            answers = await Neighbours(app).run(
                lambda ctx: add(ctx, "a"),
                lambda ctx: add(ctx, "a"),
                lambda ctx: add(ctx, "no"),
                lambda ctx: add(ctx, "b"),
            )

            assert [type(answer) for answer in answers] == [
                int, duckdb.ConstraintException, duckdb.ConstraintException, int,
            ]  # fmt: skip
            assert texts(app) == ["a", "b"]

    async def test_each_sees_what_the_one_before_it_wrote(self) -> None:
        app = notes()

        def size_of(ctx: MutationCtx) -> object:
            row = ctx.db.get("notes", 5)
            return row and row["size"]

        async with app:
            answers = await Neighbours(app).run(
                lambda ctx: ctx.db.insert("notes", {"id": 5, "size": 1}),
                lambda ctx: ctx.db.patch("notes", 5, {"size": 2}),
                size_of,
                lambda ctx: ctx.db.patch("notes", 5, {"size": 3}),
                lambda ctx: ctx.db.sql("SELECT size FROM notes").scalar(),
                lambda ctx: ctx.db.delete("notes", 5),
                size_of,
                lambda ctx: ctx.db.patch("notes", 5, {"size": 4}),
                lambda ctx: ctx.db.insert("notes", {"id": 5, "size": 5}),
                size_of,
            )

            assert isinstance(answers.pop(7), UnknownRowError)
            assert answers == [5, None, 2, None, 3, None, None, 5, 5]
            assert list(app.sql("SELECT size FROM notes")["size"]) == [5]

    async def test_a_key_that_one_gives_up_can_be_taken_by_the_next(self) -> None:
        app = RxFerrix(interactive=True).table("notes", "text VARCHAR UNIQUE")
        app.mutation(name="add")(add)
        async with app:
            row = await app.run_mutation("add", "a")
            answers = await Neighbours(app).run(
                lambda ctx: ctx.db.delete("notes", row), lambda ctx: add(ctx, "a")
            )

            assert answers[0] is None
            assert isinstance(answers[1], int)
            assert texts(app) == ["a"]

    @pytest.mark.parametrize("anyio_backend", ["asyncio"])  # the app has a loop of its own
    async def test_of_500_at_once_exactly_those_that_did_not_raise_are_there(
        self, tmp_path: Path
    ) -> None:
        app = notes(tmp_path / "a.duckdb")

        @app.mutation
        def work(ctx: MutationCtx, n: int) -> int:
            ctx.scheduler.run_after(LATER, work, n)
            write = WRITES[n % len(WRITES)]
            return write(ctx, n)

        async def call(n: int) -> None:
            try:
                await app.run_mutation(work, n)
            except (Refused, UnknownRowError, duckdb.Error, SwallowedDatabaseError, ResultError):
                failed.add(n)

        failed: set[int] = set()
        app.start()
        try:
            async with anyio.create_task_group() as tasks:
                for n in range(500):
                    tasks.start_soon(call, n)
            rows = app.sql("SELECT text, size FROM notes ORDER BY size")
            jobs = app.jobs(function="work", state="pending")
        finally:
            app.stop()

        kept = [n for n in range(500) if WRITES[n % len(WRITES)] in KEPT]
        assert failed == set(range(500)) - set(kept)
        assert list(rows["size"]) == kept
        assert sorted(args["n"] for args in jobs.args) == kept


def by_sql(ctx: MutationCtx, n: int) -> int:
    return ctx.db.sql("INSERT INTO notes VALUES ($id, 'sql', $n)", id=10_000 + n, n=n).rowcount


def by_verb(ctx: MutationCtx, n: int) -> int:
    return ctx.db.insert("notes", {"text": "verb", "size": n})


def by_both(ctx: MutationCtx, n: int) -> int:
    row = ctx.db.insert("notes", {"text": "both"})
    ctx.db.sql("UPDATE notes SET size = 0 WHERE id = $row", row=row)
    ctx.db.patch("notes", row, {"size": n})
    return row


def raises_before_sql(ctx: MutationCtx, n: int) -> int:
    raise Refused


def raises_after_sql(ctx: MutationCtx, n: int) -> int:
    by_sql(ctx, n)
    raise Refused


def raises_after_verb(ctx: MutationCtx, n: int) -> int:
    by_verb(ctx, n)
    raise Refused


def swallows(ctx: MutationCtx, n: int) -> int:
    by_verb(ctx, n)
    try:
        return ctx.db.sql("INSERT INTO notes VALUES (1, 'x', 'no number')").rowcount
    except duckdb.Error:
        return 0


def patches_nothing(ctx: MutationCtx, n: int) -> int:
    ctx.db.patch("notes", 5_000_000 + n, {"size": n})
    return by_verb(ctx, n)


def fits_nothing(ctx: MutationCtx, n: int) -> int:
    return ctx.db.insert("notes", {"size": 2**40})


def returns_nonsense(ctx: MutationCtx, n: int) -> int:
    by_sql(ctx, n)
    return object()  # type: ignore[return-value]  # pyright: ignore[reportReturnType]


KEPT = (by_sql, by_verb, by_both)
WRITES = (
    by_sql, raises_before_sql, by_verb, raises_after_sql, by_both, raises_after_verb,
    by_verb, swallows, by_sql, patches_nothing, by_verb, fits_nothing, returns_nonsense,
)  # fmt: skip


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
            raise Refused

        async with TestApp(app) as t:
            job = await t.scheduler.run_after(LATER, later)
            with pytest.raises(Refused):
                await t.run_mutation(fail, job)

            assert texts(t) == []
            assert list(t.jobs().id) == [job]
            assert t.job(job).state == "pending"

    @pytest.mark.parametrize("error", [Refused, SystemExit, KeyboardInterrupt, Unprintable])
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
                raise Refused
            return int(ctx.db.sql("SELECT count(*) FROM short").scalar())

        async with TestApp(app) as t:
            with pytest.raises(Refused):
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


class TestStatements:
    async def test_sql_hands_out_finished_rows(self) -> None:
        app = notes()
        kept: list[Rows] = []

        @app.mutation
        def read(ctx: MutationCtx) -> None:
            ctx.db.insert("notes", {"id": 1, "text": "a", "size": 2})
            kept.append(ctx.db.sql("SELECT id, text FROM notes WHERE size = $size", size=2))

        async with TestApp(app) as t:
            await t.run_mutation(read)
            rows = kept[0]

            assert rows.columns == ["id", "text"]
            assert rows.fetchall() == list(rows) == [(1, "a")]
            assert rows.fetchone() == (1, "a")
            assert rows.scalar() == 1
            assert rows.dicts() == [{"id": 1, "text": "a"}]
            assert rows.df().to_dict("records") == [{"id": 1, "text": "a"}]
            assert (rows.rowcount, len(rows)) == (1, 1)

    async def test_a_write_says_how_many_rows_it_wrote(self) -> None:
        app = notes()

        @app.mutation
        def write(ctx: MutationCtx) -> list[int]:
            return [
                ctx.db.sql("INSERT INTO notes SELECT i, 'x', 1 FROM range(5) t(i)").rowcount,
                ctx.db.sql("UPDATE notes SET size = 2 WHERE id < 3").rowcount,
                ctx.db.sql("DELETE FROM notes WHERE size = 2 RETURNING id").rowcount,
                ctx.db.sql("DELETE FROM notes WHERE size = 9").rowcount,
            ]

        async with TestApp(app) as t:
            assert await t.run_mutation(write) == [5, 3, 3, 0]

    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT count(*) FROM notes",
            "EXPLAIN SELECT * FROM notes",
            "INSERT INTO notes VALUES (1, 'a', 1)",
            "UPDATE notes SET text = 'b'",
            "DELETE FROM notes",
            "MERGE INTO notes USING (SELECT 1::BIGINT AS id) AS new ON notes.id = new.id "
            "WHEN NOT MATCHED THEN INSERT VALUES (new.id, 'm', 1)",
            "CREATE TABLE other (id BIGINT)",
            "CREATE VIEW texts AS SELECT text FROM notes",
            "CREATE INDEX by_text ON notes (text)",
            "CREATE SEQUENCE numbers",
            "CREATE TYPE mood AS ENUM ('good', 'bad')",
            "CREATE MACRO twice(x) AS x * 2",
            "CREATE SCHEMA archive",
            "ALTER TABLE notes ADD COLUMN colour VARCHAR",
            "DROP TABLE notes",
        ],
    )
    async def test_a_mutation_may_run(self, statement: str) -> None:
        app = notes()

        @app.mutation
        def run(ctx: MutationCtx) -> None:
            ctx.db.sql(statement)

        async with TestApp(app) as t:
            await t.run_mutation(run)

    @pytest.mark.parametrize(
        "statement",
        [
            "COMMIT", "ROLLBACK", "BEGIN", "CHECKPOINT", "SET threads = 1", "PRAGMA version",
            "ATTACH 'other.duckdb'", "COPY notes TO 'x.csv'", "SELECT * FROM 'x.csv'",
            "SELECT * FROM read_csv('x.csv')", "INSTALL httpfs", "LOAD httpfs", "VACUUM",
            "SELECT 1; SELECT 2", "USE memory", "EXPORT DATABASE 'x'", "PREPARE p AS SELECT 1",
        ],
    )  # fmt: skip
    async def test_all_else_is_forbidden(self, statement: str) -> None:
        app = notes()

        @app.mutation
        def run(ctx: MutationCtx) -> None:
            ctx.db.sql(statement)

        async with TestApp(app) as t:
            with pytest.raises(ForbiddenStatementError):
                await t.run_mutation(run)

    async def test_a_query_only_reads(self) -> None:
        app = notes()

        @app.query
        def write(ctx: QueryCtx, verb: str) -> None:
            match verb:
                case "sql":
                    ctx.db.sql("DELETE FROM notes")
                case "insert":
                    ctx.db.insert("notes", {"text": "x"})
                case "patch":
                    ctx.db.patch("notes", 1, {"text": "x"})
                case _:
                    ctx.db.delete("notes", 1)

        async with TestApp(app) as t:
            for verb in ("sql", "insert", "patch", "delete"):
                with pytest.raises(ForbiddenStatementError, match="write in a mutation"):
                    await t.run_query(write, verb)


async def test_an_action_is_outside_any_transaction() -> None:
    app = notes()

    app.mutation(name="add")(add)

    @app.action
    async def half(ctx: ActionCtx) -> None:
        await ctx.run_mutation(app.registry.functions["add"], "kept")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        raise Refused

    async with TestApp(app) as t:
        with pytest.raises(Refused):
            await t.run_action(half)

        assert texts(t) == ["kept"]
