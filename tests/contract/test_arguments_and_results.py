"""Contract 1.4: what a function takes and gives is checked, and carried as JSON."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from rxferrix_lab import (
    ActionCtx,
    Failed,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    TestApp,
)
from rxferrix_lab.errors import (
    ArgumentsError,
    FunctionDefinitionError,
    ResultError,
)
from tests.contract.small_program import NOW, Letter, Parcel, notes


class TestArgumentsAndResults:
    @staticmethod
    def app() -> RxFerrix:
        app = notes()

        @app.query
        def look(ctx: QueryCtx, size: int) -> int:
            return size

        @app.mutation
        def write(ctx: MutationCtx, size: int) -> int:
            return ctx.db.insert("notes", {"text": str(size)})

        @app.action
        async def act(ctx: ActionCtx, size: int) -> int:
            return size

        @app.mutation
        def lie(ctx: MutationCtx) -> int:
            ctx.db.insert("notes", {"text": "lie"})
            ctx.db.sql("INSERT INTO notes VALUES (100, 'lie')")
            return "no number"  # type: ignore[return-value]  # pyright: ignore[reportReturnType]

        @app.action
        async def fib(ctx: ActionCtx) -> int:
            return "no number"  # type: ignore[return-value]  # pyright: ignore[reportReturnType]

        return app

    @pytest.mark.parametrize(
        ("verb", "name"), [("run_query", "look"), ("run_mutation", "write"), ("run_action", "act")]
    )
    @pytest.mark.parametrize("args", [(), (1, 2), ("three",), (1.5,), (True,)])
    async def test_bad_arguments_are_refused_when_the_call_is_made(
        self, verb: str, name: str, args: tuple[Any, ...]
    ) -> None:
        async with TestApp(self.app()) as t:
            with pytest.raises(ArgumentsError, match=name):
                await getattr(t, verb)(name, *args)

            assert t.sql("SELECT * FROM _execution_log").empty

    @pytest.mark.parametrize("name", ["write", "act"])
    async def test_bad_arguments_are_refused_when_the_job_is_made(self, name: str) -> None:
        app = self.app()
        async with TestApp(app) as t:
            with pytest.raises(ArgumentsError, match=rf"{name}\(size\).*int"):
                await t.scheduler.run_after(NOW, app.registry.function(name), "three")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

            assert t.jobs().empty

    async def test_a_result_that_cannot_be_carried_fails_its_mutation_rolled_back(self) -> None:
        async with TestApp(self.app()) as t:
            with pytest.raises(ResultError, match="lie returned what cannot be carried"):
                await t.run_mutation("lie")

            assert t.sql("SELECT * FROM notes").empty
            assert list(t.sql("SELECT outcome FROM _execution_log").outcome) == ["failed"]

    async def test_a_result_that_cannot_be_carried_fails_its_action(self) -> None:
        app = self.app()
        async with TestApp(app) as t:
            with pytest.raises(ResultError):
                await t.run_action("fib")
            job = await t.scheduler.run_after(NOW, app.registry.functions["fib"])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            await t.run_due_jobs()

            outcome = await t.wait(job)
            assert isinstance(outcome, Failed)
            assert outcome.error.type == "ResultError"

    async def test_values_come_back_equal_and_of_their_annotated_type(self) -> None:
        app = RxFerrix()
        bucharest = timezone(timedelta(hours=2))

        @app.mutation
        def echo(ctx: MutationCtx, parcels: list[Parcel]) -> list[Parcel]:
            assert all(isinstance(parcel, Parcel) for parcel in parcels)
            return parcels

        async with TestApp(app) as t:
            sent = [Parcel("a", datetime(2026, 3, 1, 12, tzinfo=bucharest))]
            back = await t.run_mutation(echo, sent)

            assert back == sent
            assert back[0].sent_at.tzinfo is UTC

    async def test_a_parameter_without_annotation_takes_jsons_own_types(self) -> None:
        app = RxFerrix()

        def echo(ctx: MutationCtx, value: Any) -> Any:  # noqa: ANN401  # taken away below
            return value

        echo.__annotations__.clear()
        app.mutation(name="echo")(echo)
        async with TestApp(app) as t:
            assert await t.run_mutation("echo", {"a": [1, None, "x", 2.5]}) == {
                "a": [1, None, "x", 2.5]
            }
            with pytest.raises(ArgumentsError, match="value"):
                await t.run_mutation("echo", b"bytes")

    @pytest.mark.parametrize("union", [bytes | str, list[int] | set[int], Parcel | Letter])
    def test_a_union_that_json_cannot_tell_apart_is_refused_when_decorated(
        self,
        union: Any,  # noqa: ANN401  # a type
    ) -> None:
        def take(ctx: MutationCtx, value: Any) -> None: ...  # noqa: ANN401  # set below

        take.__annotations__["value"] = union

        with pytest.raises(FunctionDefinitionError, match="value"):
            RxFerrix().mutation(take)
