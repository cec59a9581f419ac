"""Three ways to run an engine: in a thread of its own, inside somebody's loop, or as a service."""

import atexit
import signal
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from weakref import WeakMethod

import anyio

from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.errors import NotRunningError


class Host:
    """Runs one runtime at a time. The store is opened before anything else and closed last."""

    def __init__(self) -> None:
        self.runtime: Runtime | None = None
        self._thread: threading.Thread | None = None
        self._failure: BaseException | None = None
        self._is_watching_exit = False

    @property
    def is_running(self) -> bool:
        """Whether calls are answered."""
        return self.runtime is not None

    def running(self) -> Runtime:
        """The runtime.

        Raises:
            NotRunningError: before the start and after the stop.
        """
        if self.runtime is None:
            raise NotRunningError
        return self.runtime

    # --- a thread of its own --------------------------------------------------------------------
    def start(self, runtime: Runtime) -> None:
        """Run in a thread with a loop of its own; returns once the engine takes work.

        Raises:
            DatabaseInUseError, StoreUnavailableError: if the database cannot be had.
        """
        runtime.engine.store.open()
        started = threading.Event()
        self._failure = None
        self._thread = threading.Thread(
            target=self._run_thread, args=(runtime, started), name="rxferrix-engine", daemon=True
        )
        self._thread.start()
        started.wait()
        if self._failure is not None:
            failure, self._failure = self._failure, None
            self._thread.join()
            raise _first_leaf(failure)
        if not self._is_watching_exit:
            # An interpreter that ends must not leave the file locked by a dying thread.
            atexit.register(_stop_if_alive, WeakMethod(self.stop))
            self._is_watching_exit = True

    def _run_thread(self, runtime: Runtime, started: threading.Event) -> None:
        def is_up() -> None:
            self.runtime = runtime
            started.set()

        try:
            anyio.run(runtime.serve, is_up)
        except BaseException as error:
            if started.is_set():
                raise  # nobody waits: the thread's own hook tells of it
            self._failure = error  # for whoever started the thread
        finally:
            self._end(runtime)
            started.set()

    def stop(self) -> None:
        """Stop cleanly and wait until it is done. Harmless when stopped."""
        runtime, thread = self.runtime, self._thread
        if runtime is not None:
            runtime.engine.request_stop()
        # Another's stop may be under way, and the file is free only when the thread has ended.
        if thread is not None and thread is not threading.current_thread():
            thread.join()
            self._thread = None

    def _check_stopped(self) -> None:
        if self.is_running:
            raise RuntimeError("this app runs already; stop it before it is run in another way")

    def _end(self, runtime: Runtime) -> None:
        self.runtime = None
        runtime.close()
        runtime.engine.store.close()

    # --- inside a loop --------------------------------------------------------------------------
    @asynccontextmanager
    async def inside(self, runtime: Runtime) -> AsyncGenerator[None, None]:
        """Run in the current event loop for the length of the block.

        Raises:
            RuntimeError: where it runs already.
        """
        self._check_stopped()
        runtime.engine.store.open()
        try:
            async with anyio.create_task_group() as tasks:
                started = anyio.Event()
                tasks.start_soon(runtime.serve, started.set, name="rxferrix engine")
                await started.wait()
                self.runtime = runtime
                try:
                    yield
                finally:
                    runtime.engine.request_stop()
        finally:
            self._end(runtime)

    # --- a service ------------------------------------------------------------------------------
    def run(self, runtime: Runtime) -> None:
        """Run until SIGINT or SIGTERM, then stop cleanly.

        Raises:
            RuntimeError: in a thread, which hears no signal; where it runs already, or a loop does.
        """
        self._check_stopped()
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError(
                "run() waits for signals, which only the main thread hears; "
                "elsewhere use start() and stop()"
            )
        anyio.run(self._serve, runtime)

    async def _serve(self, runtime: Runtime) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async with self.inside(runtime):
                async for _ in signals:
                    return


def _first_leaf(error: BaseException) -> BaseException:
    """The exception itself, out of the group that the engine's tasks wrapped around it."""
    inside: tuple[BaseException, ...] = getattr(error, "exceptions", ())
    return _first_leaf(inside[0]) if len(inside) == 1 else error


def _stop_if_alive(stop: "WeakMethod[Callable[[], None]]") -> None:
    alive = stop()
    if alive is not None:
        alive()
