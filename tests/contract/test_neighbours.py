"""Contract 1.5 and 1.6: mutations that share a commit are one transaction each all the same."""

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

from rxferrix_lab import Mutation, MutationCtx, RxFerrix, TestApp
from rxferrix_lab.errors import (
    ResultError,
    SwallowedDatabaseError,
    UnknownRowError,
)

LATER = timedelta(days=1)
Body = Callable[[MutationCtx], object]


class RefusedError(Exception):
    """What a function of these tests raises of its own accord."""


EXPECTED = (RefusedError, UnknownRowError, duckdb.Error, SwallowedDatabaseError, ResultError)


class Neighbours:
    """Runs mutations that share one transaction: they wait in line behind one that is held."""

    def __init__(self, app: RxFerrix) -> None:
        self._app = app
        self._is_held, self._go_on = threading.Event(), threading.Event()
        app.mutation(self.hold_writer)

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

        mutations = [self._registered(f"body{at}", body) for at, body in enumerate(bodies)]
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._app.run_mutation, "hold_writer")
            await anyio.to_thread.run_sync(self._is_held.wait)
            for at, mutation in enumerate(mutations):
                tasks.start_soon(call, at, mutation)
                await anyio.wait_all_tasks_blocked()
            self._go_on.set()
        return answers

    def _registered(self, name: str, body: Body) -> Mutation[[], Any]:
        def run(ctx: MutationCtx) -> Any:  # noqa: ANN401  # what it returns
            return body(ctx)

        return self._app.mutation(name=name)(run)


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
            raise RefusedError

        async with app:
            answers = await Neighbours(app).run(partial(good, "a"), bad, partial(good, "b"))

            assert texts(app) == ["a", "b"]
            assert isinstance(answers[1], RefusedError)
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
            except (
                RefusedError,
                UnknownRowError,
                duckdb.Error,
                SwallowedDatabaseError,
                ResultError,
            ):
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
    raise RefusedError


def raises_after_sql(ctx: MutationCtx, n: int) -> int:
    by_sql(ctx, n)
    raise RefusedError


def raises_after_verb(ctx: MutationCtx, n: int) -> int:
    by_verb(ctx, n)
    raise RefusedError


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
