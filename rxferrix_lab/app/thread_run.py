"""Plain `def` actions, each in a thread of its own.

Counted by slots and by nothing else: a limiter shared between pools would let one pool delay
    another. A thread cannot be aborted, so the wait for it can be given up while the thread goes
    on.
"""

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import anyio

from rxferrix_lab.engine.attempt import Attempt
from rxferrix_lab.engine.engine import Engine
from rxferrix_lab.engine.waiting import waiting_on_clock

T = TypeVar("T")


async def run_in_thread(call: Callable[[], T], attempt: Attempt, engine: Engine) -> T:
    """Run `call` in a thread and return what it returns; cancelling leaves the thread going."""
    outcome: Future[T] = Future()
    over = anyio.Event()
    context = contextvars.copy_context()

    def ended() -> None:
        engine.attempts.thread_ended(attempt)
        over.set()

    def work() -> None:
        try:
            outcome.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001  # carried to the attempt, which judges it
            outcome.set_exception(error)
        finally:
            engine.call_soon(ended)

    name = f"rxferrix action {attempt.execution.function}"
    threading.Thread(target=work, name=name, daemon=True).start()
    attempt.threads_alive += 1
    with waiting_on_clock(engine.clock):  # what the thread itself waits for is known from its calls
        await over.wait()
    return outcome.result()
