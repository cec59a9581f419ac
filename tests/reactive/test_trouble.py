"""A database that cannot be written: the screens say so, and say why."""

from collections.abc import Generator
from pathlib import Path

import pytest

from rxferrix_lab import MutationCtx, RxFerrix, StoreUnavailableError
from rxferrix_lab.app.calling import Calling
from rxferrix_lab.app.host import Host
from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.engine import writer_thread
from rxferrix_lab.engine.clock import SystemClock
from rxferrix_lab.engine.options import Options
from rxferrix_lab.reactive.model import LiveModel
from tests.engine.faulty_store import Fault, FaultyStore

app = RxFerrix()
app.table("notes", "text VARCHAR")


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text})


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FaultyStore:
    monkeypatch.setattr(writer_thread, "FIRST_WAIT_S", 0.001)
    monkeypatch.setattr(writer_thread, "LONGEST_WAIT_S", 0.01)
    return FaultyStore(tmp_path / "app.duckdb")


@pytest.fixture
def runtime(store: FaultyStore) -> Generator[Runtime, None, None]:
    host, made = Host(), Runtime(app.registry, store, SystemClock(), Options())
    host.start(made)
    yield made
    store.faults.clear()
    host.stop()


async def test_full_disk_is_trouble_while_it_lasts_and_the_picture_goes_on(
    runtime: Runtime, store: FaultyStore
) -> None:
    calling, model = Calling(runtime, None), LiveModel.of(runtime)
    store.fail(*[Fault.DISK_FULL] * 1_000)

    # The second is refused after the writer is done with the first.
    for text in ("first", "second"):
        with pytest.raises(StoreUnavailableError):
            await calling.run_mutation(note, (text,), {})
    model.refresh()
    during = model.health
    store.faults.clear()
    for text in ("third", "fourth"):
        await calling.run_mutation(note, (text,), {})
    model.refresh()

    assert "No space left" in during.trouble
    assert during.is_running
    assert model.health.trouble == ""
