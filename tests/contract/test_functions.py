"""Contract 1.1 to 1.5: what a function is, who may call it, what it takes and gives."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import anyio
import pytest

from rxferrix_lab import (
    ActionCtx,
    Failed,
    Identity,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    TestApp,
)
from rxferrix_lab.errors import (
    ArgumentsError,
    DeadContextError,
    DuplicateNameError,
    FunctionDefinitionError,
    PermissionDeniedError,
    ResultError,
    UnknownFunctionError,
)

ANN = Identity("ann")
ADMIN = Identity("root", admin=True)
NOW = timedelta(0)


@dataclass
class Parcel:
    name: str
    sent_at: datetime


@dataclass
class Letter:
    name: str


def notes() -> RxFerrix:
    return RxFerrix().table("notes", "text VARCHAR")


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
            RxFerrix().mutation(thing)

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

        def echo(ctx, value):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN202  # the point
            return value

        app.mutation(echo)  # pyright: ignore[reportUnknownArgumentType]
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
