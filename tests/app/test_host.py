"""Three ways to run an app: as a service, in a thread of its own, and inside somebody's loop."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path

import anyio
import pytest

from rxferrix_lab import (
    ActionCtx,
    DatabaseInUseError,
    JobId,
    MutationCtx,
    NotRunningError,
    RxFerrix,
    SyncActionCtx,
)

NOW = timedelta(0)

SERVICE = textwrap.dedent(
    """
    import sys, threading, time
    from datetime import timedelta
    from rxferrix_lab import ActionCtx, MutationCtx, RxFerrix

    app = RxFerrix(sys.argv[1], grace=timedelta(seconds=1))

    @app.action
    async def wait(ctx: ActionCtx) -> None:
        print("running", flush=True)
        await ctx.canceled()
        print("told", flush=True)

    @app.mutation
    def begin(ctx: MutationCtx) -> None:
        ctx.scheduler.run_after(timedelta(0), wait)

    def call() -> None:
        while not app.is_running:
            time.sleep(0.01)
        app.call(begin)

    threading.Thread(target=call).start()
    app.run()
    print("stopped", flush=True)
    """
)


def write(app: RxFerrix, text: str) -> None:
    """Call the mutation from plain code."""
    anyio.run(lambda: app.run_mutation("note", text))


@pytest.fixture
def app(tmp_path: Path) -> Generator[RxFerrix, None, None]:
    made = RxFerrix(tmp_path / "app.duckdb", grace=timedelta(milliseconds=100))
    made.table("notes", "text VARCHAR")

    @made.mutation
    def note(ctx: MutationCtx, text: str) -> int:
        return ctx.db.insert("notes", {"text": text})

    yield made
    made.stop()


def notes(app: RxFerrix) -> list[str]:
    return list(app.sql("SELECT text FROM notes ORDER BY id")["text"])


class TestService:
    @pytest.mark.kill
    @pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
    def test_a_signal_stops_it_cleanly(self, tmp_path: Path, stop: signal.Signals) -> None:
        path = tmp_path / "app.duckdb"
        service = subprocess.Popen(
            [sys.executable, "-c", SERVICE, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert service.stdout is not None
        assert service.stdout.readline() == "running\n"
        service.send_signal(stop)
        said, _ = service.communicate(timeout=60)

        assert said == "told\nstopped\n"
        assert service.returncode == 0
        again = RxFerrix(path).start()
        error = again.job(JobId(1)).error
        again.stop()
        assert error is not None
        assert error.kind == "interrupted"


class TestThread:
    def test_start_and_stop_may_be_called_twice(self, app: RxFerrix) -> None:
        app.start()
        app.start()
        app.stop()
        app.stop()

        assert not app.is_running

    def test_it_can_be_started_again_and_finds_what_it_wrote(self, app: RxFerrix) -> None:
        for text in ("a", "b"):
            app.start()
            write(app, text)
            app.stop()
        app.start()

        assert notes(app) == ["a", "b"]

    def test_stops_from_several_threads_all_return_once_the_file_is_free(
        self, app: RxFerrix
    ) -> None:
        app.start()
        stops = [threading.Thread(target=app.stop) for _ in range(4)]
        for stop in stops:
            stop.start()
        for stop in stops:
            stop.join()

        app.start()
        assert app.is_running

    def test_without_a_start_calls_are_refused(self, app: RxFerrix) -> None:
        with pytest.raises(NotRunningError):
            app.sql("SELECT 1")

    def test_a_start_that_fails_says_why_and_can_be_tried_again(self, app: RxFerrix) -> None:
        other = RxFerrix(app.database).start()
        with pytest.raises(DatabaseInUseError):
            app.start()
        other.stop()

        app.start()
        assert app.is_running

    def test_a_thread_that_ignores_the_stop_does_not_hold_it_up(self, app: RxFerrix) -> None:
        began, go_on = threading.Event(), threading.Event()

        @app.action
        def stubborn(ctx: SyncActionCtx) -> None:
            began.set()
            go_on.wait()

        app.start()
        job: JobId = anyio.run(lambda: app.scheduler.run_after(NOW, stubborn))
        assert began.wait(30)
        app.stop()
        was_there = not go_on.is_set()
        app.start()

        assert was_there
        assert app.job(job).state == "failed"
        go_on.set()

    def test_a_thread_that_goes_on_after_the_stop_is_refused_everything(
        self, app: RxFerrix
    ) -> None:
        began, go_on, refused = threading.Event(), threading.Event(), threading.Event()

        @app.mutation
        def note_late(ctx: MutationCtx) -> None:
            ctx.db.insert("notes", {"text": "late"})

        @app.action
        def stubborn(ctx: SyncActionCtx) -> None:
            began.set()
            go_on.wait()
            try:
                ctx.run_mutation(note_late)
            except Exception:
                refused.set()
                raise

        app.start()
        anyio.run(lambda: app.scheduler.run_after(NOW, stubborn))
        assert began.wait(30)
        app.stop()
        go_on.set()

        assert refused.wait(30)
        app.start()
        assert notes(app) == []


class TestInsideALoop:
    async def test_calls_are_answered_inside_the_block_and_not_after_it(
        self, app: RxFerrix
    ) -> None:
        async with app:
            await app.run_mutation("note", "a")
            inside = notes(app)

        assert inside == ["a"]
        with pytest.raises(NotRunningError):
            await app.run_mutation("note", "b")

    async def test_it_can_be_entered_again(self, app: RxFerrix) -> None:
        for text in ("a", "b"):
            async with app:
                await app.run_mutation("note", text)

        async with app:
            assert notes(app) == ["a", "b"]

    async def test_an_app_that_runs_is_not_entered_again_nor_run_as_a_service(self) -> None:
        app = RxFerrix(interactive=False)  # in memory: there is no file whose lock would refuse it
        async with app:
            with pytest.raises(RuntimeError, match="this app runs already"):
                async with app:
                    pass
            with pytest.raises(RuntimeError, match="this app runs already"):
                app.run()
            assert app.start().is_running
        assert not app.is_running

    async def test_an_exception_in_the_body_comes_out_as_it_is(self, app: RxFerrix) -> None:
        with pytest.raises(LookupError, match="the body's own"):
            async with app:
                raise LookupError("the body's own")

        assert not app.is_running

    async def test_the_file_is_free_after_an_exception_in_the_body(self, app: RxFerrix) -> None:
        async def body() -> None:
            async with app:
                await app.run_mutation("note", "a")
                raise LookupError

        with pytest.raises(LookupError):
            await body()

        async with app:
            assert notes(app) == ["a"]

    async def test_a_body_that_is_cancelled_still_gives_what_runs_its_grace(
        self, app: RxFerrix
    ) -> None:
        ended: list[str] = []
        began = anyio.Event()

        @app.action
        async def tidy(ctx: ActionCtx) -> None:
            began.set()
            await ctx.canceled()
            ended.append("told")

        with anyio.CancelScope() as scope:
            async with app:
                await app.scheduler.run_after(NOW, tidy)
                await began.wait()
                scope.cancel()
                await anyio.sleep_forever()

        assert ended == ["told"]

    async def test_an_action_called_from_the_body_runs_there(self, app: RxFerrix) -> None:
        @app.action
        async def where(ctx: ActionCtx) -> int:
            return threading.get_ident()

        async with app:
            assert await app.run_action(where) == threading.get_ident()


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_is_refused_and_the_parent_goes_on(app: RxFerrix) -> None:
    app.start()
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        try:
            write(app, "child")
        except Exception:  # noqa: BLE001  # whatever it is, it must be refused
            os._exit(0)
        os._exit(1)

    _, status = os.waitpid(child, 0)
    write(app, "parent")

    assert os.waitstatus_to_exitcode(status) == 0
    assert notes(app) == ["parent"]
