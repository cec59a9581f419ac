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

from rxferrix_lab.engine.attempt import Attempt
from rxferrix_lab.engine.engine import Engine
from rxferrix_lab.engine.loop import result_of

T = TypeVar("T")


async def run_in_thread(call: Callable[[], T], attempt: Attempt, engine: Engine) -> T:
    """Run `call` in a thread and return what it returns; cancelling leaves the thread going."""
    future: Future[T] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            value = context.run(call)
        except BaseException as error:  # noqa: BLE001  # carried to the attempt, which judges it
            future.set_exception(error)
        else:
            future.set_result(value)
        finally:
            engine.call_soon(lambda: engine.attempts.thread_ended(attempt))

    name = f"rxferrix action {attempt.execution.function}"
    attempt.thread_is_alive = True
    threading.Thread(target=work, name=name, daemon=True).start()
    return await result_of(future)
