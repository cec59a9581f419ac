"""Calls from outside: by name, blocking, and where blocking would wait for itself."""

from collections.abc import Generator
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from rxferrix_lab import (
    ActionCtx,
    Identity,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    SyncActionCtx,
    TestApp,
    VirtualClock,
    Workpool,
)
from rxferrix_lab.engine.cancellation import PoolCancellation
from rxferrix_lab.errors import (
    ArgumentsError,
    BlockingCallError,
    NotRunningError,
    PermissionDeniedError,
    UnknownCronError,
    UnknownFunctionError,
)

ANN = Identity("ann")
ADMIN = Identity("root", admin=True)
RUN_CRON_NOW = "_system/scheduler:run_cron_now"


@pytest.fixture
def app(tmp_path: Path) -> Generator[RxFerrix, None, None]:
    app = RxFerrix(tmp_path / "a.duckdb", interactive=True).table("notes", "text VARCHAR")
    app.start()
    yield app
    app.stop()


def with_cron() -> RxFerrix:
    app = RxFerrix().workpool(Workpool("emails", max_parallelism=1))

    @app.mutation
    def work(ctx: MutationCtx) -> None: ...

    return app.cron("digest", "0 0 9 * * *", work)


class TestBlocking:
    def test_call_runs_every_colour_from_plain_code(self, app: RxFerrix) -> None:
        @app.query
        def look(ctx: QueryCtx, n: int) -> int:
            return n

        @app.mutation
        def write(ctx: MutationCtx, n: int) -> int:
            return n

        @app.action
        async def act(ctx: ActionCtx, n: int) -> int:
            return n

        @app.action
        def act_in_thread(ctx: SyncActionCtx, n: int) -> int:
            return n

        assert [app.call(fn, n=7) for fn in (look, write, act, act_in_thread)] == [7] * 4

    def test_call_takes_a_name_too(self, app: RxFerrix) -> None:
        @app.mutation
        def write(ctx: MutationCtx, n: int) -> int:
            return n

        app.cron("digest", "0 0 9 * * *", write, 1)
        call: Any = app.call  # the name form has no types to check

        assert call("write", 7) == 7
        assert app.job(call(RUN_CRON_NOW, "digest")).cron == "digest"

    def test_call_is_refused_inside_a_mutation(self, app: RxFerrix) -> None:
        @app.mutation
        def inner(ctx: MutationCtx) -> None: ...

        @app.mutation
        def outer(ctx: MutationCtx) -> None:
            app.call(inner)

        with pytest.raises(BlockingCallError, match=r"app\.call blocks"):
            app.call(outer)

    def test_call_is_refused_on_the_engines_own_loop(self, app: RxFerrix) -> None:
        @app.mutation
        def write(ctx: MutationCtx) -> None: ...

        @app.action
        async def act(ctx: ActionCtx) -> None:
            app.call(write)

        with pytest.raises(BlockingCallError, match=r"await app\.run_query"):
            app.call(act)

    def test_call_is_allowed_in_an_actions_own_thread(self, app: RxFerrix) -> None:
        @app.mutation
        def write(ctx: MutationCtx) -> int:
            return ctx.db.insert("notes", {})

        @app.action
        def act(ctx: SyncActionCtx) -> int:
            return app.call(write)

        assert app.call(act) == 1

    async def test_call_is_refused_where_the_app_shares_the_callers_loop(self) -> None:
        app = RxFerrix(interactive=True)

        @app.query
        def look(ctx: QueryCtx) -> None: ...

        async with app:
            with pytest.raises(BlockingCallError):
                app.call(look)
            await anyio.to_thread.run_sync(app.call, look)

    @pytest.mark.parametrize("verb", ["cancel", "pause_cron", "scheduler"])
    def test_operating_verbs_are_refused_inside_a_mutation(self, app: RxFerrix, verb: str) -> None:
        @app.mutation
        def outer(ctx: MutationCtx) -> None:
            face = app.as_user(ANN) if verb == "scheduler" else app
            found = getattr(face, verb)
            found("x")

        with pytest.raises(BlockingCallError):
            app.call(outer)

    def test_a_stopped_app_answers_no_call(self, app: RxFerrix) -> None:
        @app.query
        def look(ctx: QueryCtx) -> None: ...

        app.stop()

        with pytest.raises(NotRunningError, match=r"start it with app\.start\(\)"):
            app.call(look)

    @pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])
    async def test_an_app_started_from_a_running_loop_works(
        self, tmp_path: Path, anyio_backend: str
    ) -> None:
        app = RxFerrix(tmp_path / f"{anyio_backend}.duckdb", interactive=True)

        @app.action
        async def act(ctx: ActionCtx) -> int:
            return 7

        app.start()
        try:
            assert await app.run_action(act) == 7
        finally:
            await anyio.to_thread.run_sync(app.stop)

    def test_an_app_on_a_virtual_clock_is_called_from_outside(self) -> None:
        app = RxFerrix(clock=VirtualClock(TestApp(RxFerrix()).now()), interactive=True)

        @app.mutation
        def write(ctx: MutationCtx) -> int:
            return 7

        app.start()
        try:
            app.table("notes", "text VARCHAR")  # waits for the engine, and not for time
            assert app.call(write) == 7
        finally:
            app.stop()


class TestSystemVerbs:
    @pytest.mark.parametrize(("args", "kwargs"), [(("digest",), {}), ((), {"name": "digest"})])
    async def test_a_cron_is_run_now_by_name(
        self, args: tuple[str, ...], kwargs: dict[str, str]
    ) -> None:
        async with TestApp(with_cron()) as t:
            before = t.sql("SELECT next_run_at FROM _crons").next_run_at[0]
            job = await t.as_user(ADMIN).run_mutation(RUN_CRON_NOW, *args, **kwargs)
            await t.run_due_jobs()

            assert (t.job(job).trigger, t.job(job).cron, t.job(job).state) == (
                "manual", "digest", "succeeded",
            )  # fmt: skip
            assert t.sql("SELECT next_run_at FROM _crons").next_run_at[0] == before

    async def test_a_viewer_is_refused_and_logged(self) -> None:
        async with TestApp(with_cron()) as t:
            with pytest.raises(PermissionDeniedError, match="ann may not run_cron_now"):
                await t.as_user(ANN).run_mutation(RUN_CRON_NOW, "digest")

            assert t.jobs().empty
            log = t.sql("SELECT function, kind, caller, identity, outcome FROM _execution_log")
            assert log.iloc[0].where(log.iloc[0].notna(), None).to_list() == [
                RUN_CRON_NOW, None, "operator", "ann", "failed",
            ]  # fmt: skip

    @pytest.mark.parametrize(
        ("args", "kwargs"), [((), {}), (("a", "b"), {}), ((), {"cron": "digest"})]
    )
    async def test_arguments_that_do_not_fit_the_verb_are_refused(
        self, args: tuple[str, ...], kwargs: dict[str, str]
    ) -> None:
        async with TestApp(with_cron()) as t:
            with pytest.raises(ArgumentsError, match=RUN_CRON_NOW):
                await t.run_mutation(RUN_CRON_NOW, *args, **kwargs)

    async def test_an_unknown_verb_or_cron_is_told(self) -> None:
        async with TestApp(with_cron()) as t:
            with pytest.raises(UnknownFunctionError, match="is not one of cancel, rerun"):
                await t.run_mutation("_system/scheduler:format_disk")
            with pytest.raises(UnknownCronError, match="there are: digest"):
                await t.run_mutation(RUN_CRON_NOW, "nope")

    async def test_the_other_verbs_go_by_name_too(self) -> None:
        async with TestApp(with_cron()) as t:
            for verb, args in (
                ("pause_cron", ("digest",)),
                ("resume_cron", ("digest",)),
                ("resize_pool", ("emails", 7)),
            ):
                await t.run_mutation(f"_system/scheduler:{verb}", *args)
            emptied: Any = await t.run_mutation("_system/scheduler:cancel_pool", "emails")

            assert emptied == PoolCancellation(0, 0)
            assert t.sql("SELECT max_parallelism AS n FROM _workpools").n[0] == 7


async def test_a_function_that_was_never_registered_is_told() -> None:
    def stray(ctx: MutationCtx) -> None: ...

    async with TestApp(RxFerrix()) as t:
        with pytest.raises(UnknownFunctionError, match=r"stray.*decorate it"):
            await t.run_mutation(stray)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]


def subject_of(identity: Identity | None) -> str:
    if identity is None:
        return "nobody"
    return f"{identity.subject}, an operator" if identity.admin else identity.subject


async def test_a_call_is_made_as_the_identity_of_its_face() -> None:
    app = RxFerrix()

    @app.query
    def who(ctx: QueryCtx) -> str:
        return subject_of(ctx.identity)

    @app.mutation
    def who_writes(ctx: MutationCtx) -> str:
        return subject_of(ctx.identity)

    @app.action
    async def who_acts(ctx: ActionCtx) -> list[str]:
        own = subject_of(ctx.identity)
        return [own, await ctx.run_query(who), await ctx.run_mutation(who_writes)]

    async with TestApp(app) as t:
        assert await t.run_action(who_acts) == ["nobody"] * 3
        assert await t.as_user(ADMIN).run_action(who_acts) == ["root, an operator"] * 3
        assert await t.as_user(ANN).run_action(who_acts) == ["ann"] * 3
        with pytest.raises(TypeError, match="as_user takes an Identity"):
            app.as_user("ann")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def test_a_scheduled_function_has_no_identity() -> None:
    app = RxFerrix()

    @app.mutation
    def who(ctx: MutationCtx) -> str:
        return subject_of(ctx.identity)

    async with TestApp(app) as t:
        job = await t.as_user(ADMIN).scheduler.run_after(timedelta(0), who)
        await t.run_due_jobs()

        assert t.job(job).result == "nobody"


class TestWhatStopsAnApp:
    """Only the app's own end stops it, whatever a function raises or calls."""

    @pytest.fixture
    def running(self) -> Generator[RxFerrix, None, None]:
        app = RxFerrix(interactive=False)

        @app.action
        async def cancels_itself(ctx: ActionCtx) -> None:
            raise anyio.get_cancelled_exc_class()

        @app.mutation
        def stops(ctx: MutationCtx) -> None:
            app.stop()

        @app.mutation
        def works(ctx: MutationCtx) -> int:
            return 1

        app.start()
        yield app
        app.stop()

    def test_called_action_that_raises_a_cancellation_ends_alone(self, running: RxFerrix) -> None:
        with pytest.raises(BaseException) as raised:  # noqa: PT011  # the loop's own kind
            running.call("cancels_itself")  # type: ignore[arg-type]  # found by its name

        assert type(raised.value).__name__ == "CancelledError"
        assert running.call("works") == 1  # type: ignore[arg-type]  # found by its name

    def test_stop_inside_a_mutation_is_refused(self, running: RxFerrix) -> None:
        with pytest.raises(BlockingCallError, match="stop"):
            running.call("stops")  # type: ignore[arg-type]  # found by its name

        assert running.call("works") == 1  # type: ignore[arg-type]  # found by its name
