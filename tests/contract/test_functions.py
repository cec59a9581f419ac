"""Contract 1.1 to 1.3: what a function is, who may call it, and under which name."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from rxferrix_lab import (
    ActionCtx,
    Identity,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    TestApp,
)
from rxferrix_lab.errors import (
    DuplicateNameError,
    FunctionDefinitionError,
    PermissionDeniedError,
    UnknownFunctionError,
)
from tests.contract.small_program import ADMIN, ANN, NOW, Letter, notes


class TestColours:
    @pytest.mark.parametrize("colour", ["query", "mutation"])
    def test_async_def_is_refused_and_told_what_to_write_instead(self, colour: str) -> None:
        app = RxFerrix()

        async def read(ctx: QueryCtx) -> int:
            return 1

        with pytest.raises(FunctionDefinitionError, match=r"cannot await; write `def read\(ctx"):
            getattr(app, colour)(read)

    @pytest.mark.parametrize("colour", ["query", "mutation"])
    def test_async_def_is_refused_by_the_option_form_too(self, colour: str) -> None:
        app = RxFerrix()

        async def read(ctx: QueryCtx) -> int:
            return 1

        with pytest.raises(FunctionDefinitionError, match="cannot await"):
            getattr(app, colour)(name="other")(read)

    @pytest.mark.parametrize("colour", ["query", "mutation", "action"])
    def test_a_generator_is_refused(self, colour: str) -> None:
        def many(ctx: Any) -> Any:  # noqa: ANN401  # never called
            yield 1

        with pytest.raises(FunctionDefinitionError, match="return a list instead"):
            getattr(RxFerrix(), colour)(many)

    @pytest.mark.parametrize("thing", [3, "read", Letter])
    def test_what_is_no_function_is_refused(self, thing: Any) -> None:  # noqa: ANN401  # anything
        with pytest.raises(FunctionDefinitionError, match="only a function can be registered"):
            RxFerrix().mutation(name="thing")(thing)

    def test_a_registered_function_cannot_be_called_without_a_context(self) -> None:
        app = RxFerrix()

        @app.mutation
        def add(ctx: MutationCtx) -> None: ...

        with pytest.raises(TypeError, match=r"run it with app\.call\(add, …\)"):
            add()

    async def test_an_action_calls_queries_mutations_and_actions(self) -> None:
        app = notes()

        @app.query
        def count(ctx: QueryCtx) -> int:
            return int(ctx.db.sql("SELECT count(*) FROM notes").scalar())

        @app.mutation
        def add(ctx: MutationCtx, text: str) -> int:
            return ctx.db.insert("notes", {"text": text})

        @app.action
        def in_thread(ctx: SyncActionCtx, text: str) -> int:
            ctx.run_mutation(add, text)
            return ctx.run_query(count)

        @app.action
        async def outer(ctx: ActionCtx) -> list[int]:
            await ctx.run_mutation(add, "a")
            return [await ctx.run_query(count), await ctx.run_action(in_thread, "b")]

        async with TestApp(app) as t:
            assert await t.run_action(outer) == [1, 2]


class TestInternal:
    @staticmethod
    def app() -> RxFerrix:
        app = notes()

        @app.query(internal=True)
        def look(ctx: QueryCtx) -> int:
            return int(ctx.db.sql("SELECT count(*) FROM notes").scalar())

        @app.mutation(internal=True)
        def write(ctx: MutationCtx) -> int:
            return ctx.db.insert("notes", {"text": "secret"})

        @app.action(internal=True)
        async def act(ctx: ActionCtx) -> int:
            return await ctx.run_mutation(write)

        @app.action
        async def front(ctx: ActionCtx) -> int:
            return await ctx.run_mutation(write) + await ctx.run_action(act)

        @app.mutation
        def later(ctx: MutationCtx) -> int:
            return ctx.scheduler.run_after(NOW, write)

        return app

    @pytest.mark.parametrize(
        ("verb", "name"), [("run_query", "look"), ("run_mutation", "write"), ("run_action", "act")]
    )
    async def test_a_viewer_is_refused_and_nothing_runs(self, verb: str, name: str) -> None:
        async with TestApp(self.app()) as t:
            with pytest.raises(PermissionDeniedError, match=f"ann may not call {name}"):
                await getattr(t.as_user(ANN), verb)(name)

            assert await t.run_query("look") == 0
            assert t.sql("SELECT * FROM _execution_log").empty

    @pytest.mark.parametrize("identity", [None, ADMIN])
    async def test_the_program_and_an_admin_may_call_it(self, identity: Identity | None) -> None:
        async with TestApp(self.app()) as t:
            face = t if identity is None else t.as_user(identity)

            assert await face.run_mutation("write") == 1
            assert await face.run_action("act") == 2
            assert await face.run_query("look") == 2

    async def test_a_viewer_reaches_it_through_other_functions_and_the_scheduler(self) -> None:
        async with TestApp(self.app()) as t:
            await t.as_user(ANN).run_action("front")
            await t.as_user(ANN).run_mutation("later")
            await t.run_due_jobs()

            assert await t.run_query("look") == 3


class TestNames:
    async def test_the_name_is_the_functions_own(self) -> None:
        app = RxFerrix()

        @app.mutation
        def add(ctx: MutationCtx) -> int:
            return 7

        async with TestApp(app) as t:
            assert add.name == "add"
            assert await t.run_mutation("add") == 7

    async def test_a_given_name_keeps_durable_jobs_across_a_rename(self, tmp_path: Path) -> None:
        before, after = notes(), notes()

        @before.mutation
        def add(ctx: MutationCtx, text: str) -> None: ...

        @after.mutation(name="add")
        def add_note(ctx: MutationCtx, text: str) -> None:
            ctx.db.insert("notes", {"text": f"{text}, renamed"})

        async with TestApp(before, database=tmp_path / "a.duckdb") as t:
            await t.scheduler.run_after(timedelta(hours=1), add, "hello")
        async with TestApp(after, database=tmp_path / "a.duckdb") as t:
            await t.advance_time(timedelta(hours=1))

            assert list(t.sql("SELECT text FROM notes").text) == ["hello, renamed"]

    def test_a_name_is_taken_across_colours(self) -> None:
        app = RxFerrix()

        @app.query
        def add(ctx: QueryCtx) -> None: ...

        def again(ctx: MutationCtx) -> None: ...

        with pytest.raises(DuplicateNameError, match='"add" is declared twice'):
            app.mutation(name="add")(again)

    @pytest.mark.parametrize("name", ["", "  ", "x" * 201, "_system/scheduler:cancel", 5])
    def test_a_name_that_cannot_be_one_is_refused(self, name: Any) -> None:  # noqa: ANN401  # bad
        def add(ctx: MutationCtx) -> None: ...

        with pytest.raises(FunctionDefinitionError):
            RxFerrix().mutation(name=name)(add)

    async def test_an_unknown_name_or_another_colour_is_refused_by_name(self) -> None:
        app = RxFerrix()

        @app.query
        def look(ctx: QueryCtx) -> None: ...

        async with TestApp(app) as t:
            with pytest.raises(UnknownFunctionError, match='"nope" is not registered in this app'):
                await t.run_mutation("nope")
            with pytest.raises(UnknownFunctionError, match="is a query, not an action"):
                await t.run_action("look")


class TestRegisteringTwice:
    def test_it_is_an_error_in_a_program(self) -> None:
        app = RxFerrix(interactive=False)

        def add(ctx: MutationCtx) -> None: ...

        app.mutation(add)

        with pytest.raises(DuplicateNameError):
            app.mutation(add)

    async def test_in_a_notebook_the_new_definition_serves_later_attempts(self) -> None:
        app = RxFerrix(interactive=True)

        def say(word: str) -> Any:  # noqa: ANN401  # a registered function
            @app.mutation(name="say")
            def said(ctx: MutationCtx) -> str:
                return word

            return said

        old = say("old")
        async with TestApp(app) as t:
            job = await t.scheduler.run_after(NOW, old)
            say("new")
            await t.run_due_jobs()

            assert t.job(job).result == "new"
            assert await t.run_mutation(old) == "new"

    async def test_in_a_notebook_a_running_one_finishes_with_the_old(self) -> None:
        app = RxFerrix(interactive=True)

        def work(word: str) -> Any:  # noqa: ANN401  # a registered function
            @app.action(name="work")
            async def worked(ctx: ActionCtx) -> str:
                await ctx.sleep(timedelta(minutes=1))
                return word

            return worked

        async with TestApp(app) as t:
            first = await t.scheduler.run_after(NOW, work("old"))
            await t.run_due_jobs()
            second = await t.scheduler.run_after(NOW, work("new"))
            await t.advance_time(timedelta(minutes=2))

            assert [t.job(first).result, t.job(second).result] == ["old", "new"]
