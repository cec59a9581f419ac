"""A view loads again whenever something changed, one load at a time."""

import anyio
import pytest

from rxferrix_lab.views.reloading import Reloading

pytestmark = pytest.mark.anyio


class Loads:
    """Loads that end when they are told to."""

    def __init__(self) -> None:
        self.begun = self.ended = 0
        self.may_end = anyio.Event()
        self.reloading = Reloading(self._load)

    async def _load(self) -> None:
        self.begun += 1
        assert self.begun == self.ended + 1, "two at once"
        await self.may_end.wait()
        self.ended += 1


async def test_what_is_asked_during_a_load_is_loaded_once_after_it() -> None:
    loads = Loads()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(loads.reloading.whole)
        await anyio.wait_all_tasks_blocked()
        for _ in range(3):
            await loads.reloading.whole()
        assert (loads.begun, loads.ended) == (1, 0)
        loads.may_end.set()

    assert (loads.begun, loads.ended) == (2, 2)


async def test_each_ask_after_a_load_is_a_load_of_its_own() -> None:
    loads = Loads()
    loads.may_end.set()

    await loads.reloading.whole()
    await loads.reloading.whole()

    assert loads.ended == 2


async def test_load_that_fails_does_not_stop_the_next() -> None:
    asked: list[int] = []

    async def load() -> None:
        asked.append(1)
        if len(asked) == 1:
            raise LookupError("no such page")

    reloading = Reloading(load)
    with pytest.raises(LookupError):
        await reloading.whole()
    await reloading.whole()

    assert len(asked) == 2
