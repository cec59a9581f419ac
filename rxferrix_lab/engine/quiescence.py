"""Whether a task, with all that it started, waits on nothing but the clock.

Reads what each task waits for: the clock, other tasks (a task group's end, `gather`), or something
    real. Only asked under a virtual clock, on the event loop's own thread.
"""

from collections.abc import Iterable
from inspect import iscoroutine
from types import CoroutineType
from typing import Any

import anyio

from rxferrix_lab.engine.clock import Waits

# Event loops have no public way to ask what a task waits for. The attributes below are read with
# getattr, and one that is missing counts as "waits on something real", which is the safe answer.
Task = Any


def waits_on_clock(root: int, waits: Waits) -> bool:
    """Whether the task of this id and every task below it wait on the clock."""
    infos = {info.id: info for info in anyio.get_running_tasks()}
    if root not in infos:
        return False
    tree = {root}
    for info in sorted(infos.values(), key=lambda info: info.id == root, reverse=True):
        if _descends(info.id, infos, root):
            tree.add(info.id)
    natives = {id(task): task for task in _natives()}
    return all(task in natives and _is_waiting(natives[task], waits, 0) for task in tree)


def _descends(task: int | None, infos: dict[int, anyio.TaskInfo], root: int) -> bool:
    while task is not None and task in infos:
        if task == root:
            return True
        task = infos[task].parent_id
    return False


def _is_waiting(task: Task, waits: Waits, depth: int) -> bool:
    if waits.has(id(task)):
        return not _is_about_to_run(task)
    others = _waited_for(task)
    if not others or depth > 50:
        return False
    return all(_is_waiting(other, waits, depth + 1) for other in others)


def _is_about_to_run(task: Task) -> bool:
    waiter = getattr(task, "_fut_waiter", None)
    if hasattr(task, "_fut_waiter"):
        return waiter is None or waiter.done()
    return getattr(task, "_next_send_fn", None) is not None  # trio: it is scheduled


def _waited_for(task: Task) -> list[Task]:
    """The tasks whose end this task waits for; empty where it waits for anything else."""
    if hasattr(task, "child_nurseries"):
        return _trio_children(task)
    waiter = getattr(task, "_fut_waiter", None)
    if waiter is None or waiter.done():
        return []
    if hasattr(waiter, "get_coro"):
        return [waiter]
    gathered = getattr(waiter, "_children", None)
    if gathered:
        return [child for child in gathered if not child.done()]
    return [member for member in _members(_innermost(task.get_coro())) if _goes_on(member, task)]


def _goes_on(member: Task, task: Task) -> bool:
    return member is not task and not member.done()


def _members(waiting: "CoroutineType[Any, Any, Any] | None") -> Iterable[Task]:
    """The tasks that `async with` a task group, or `asyncio.wait`, waits for."""
    if waiting is None or waiting.cr_frame is None:
        return ()
    seen = waiting.cr_frame.f_locals
    if waiting.__name__ == "__aexit__":
        return tuple(getattr(seen.get("self"), "_tasks", ()))
    if waiting.__name__ == "_wait" and seen.get("timeout") is None:
        return tuple(seen.get("fs", ()))
    return ()


def _trio_children(task: Task) -> list[Task]:
    nurseries = task.child_nurseries
    if not nurseries or not getattr(nurseries[-1], "_parent_waiting_in_aexit", False):
        return []
    return list(nurseries[-1].child_tasks)


def _innermost(coro: object) -> "CoroutineType[Any, Any, Any] | None":
    """The coroutine at the end of a chain of awaits: the one that really waits."""
    found: CoroutineType[Any, Any, Any] | None = None
    while iscoroutine(coro):
        found = coro
        coro = found.cr_await
    return found


def _natives() -> Iterable[Task]:
    """The event loop's own task objects."""
    try:
        import trio  # only where trio is installed

        root = trio.lowlevel.current_root_task()
    except (ImportError, RuntimeError):
        root = None
    if root is None:
        return _asyncio_tasks()
    return _trio_tasks(root)


def _trio_tasks(root: Task) -> list[Task]:
    found: list[Task] = []
    ahead: list[Task] = [root]
    while ahead:
        task = ahead.pop()
        found.append(task)
        for nursery in task.child_nurseries:
            ahead.extend(nursery.child_tasks)
    return found


def _asyncio_tasks() -> Iterable[Task]:
    import asyncio  # noqa: TID251  # read only: which tasks there are

    return asyncio.all_tasks()
