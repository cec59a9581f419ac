"""A running app whose store fails again and again: nothing promised is lost, nothing doubled."""

from collections import Counter
from collections.abc import Generator
from datetime import timedelta
from pathlib import Path
from random import Random

import anyio
import pytest

from rxferrix_lab import ActionCtx, JobId, MutationCtx, RxFerrix, StoreUnavailableError, Workpool
from rxferrix_lab.app.calling import Calling
from rxferrix_lab.app.host import Host
from rxferrix_lab.app.reading import Reading
from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.engine import writer_thread
from rxferrix_lab.engine.clock import SystemClock
from rxferrix_lab.engine.options import Options
from tests.engine.faulty_store import Fault, FaultyStore

NOW = timedelta(0)
FAULTS = [Fault.NONE] * 4 + [Fault.DISK_FULL, Fault.LOST_BEFORE, Fault.LOST_AFTER]

app = RxFerrix()
app.table("notes", "text VARCHAR")
app.workpool(Workpool("pool", max_parallelism=3))


@app.mutation
def note(ctx: MutationCtx, text: str) -> None:
    ctx.db.insert("notes", {"text": text})


@app.action
async def act(ctx: ActionCtx, text: str) -> None:
    for _ in range(100):
        try:
            return await ctx.run_mutation(note, text)
        except StoreUnavailableError:
            continue
    raise RuntimeError("the store never came back")


@app.mutation
def begin(ctx: MutationCtx, text: str) -> list[JobId]:
    mutation = ctx.scheduler.run_after(NOW, note, f"mutation {text}")
    return [mutation, ctx.scheduler.pool("pool").enqueue(act, f"action {text}")]


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
    host.stop()


@pytest.mark.parametrize("seed", range(4))
def test_each_acknowledged_job_ends_once(runtime: Runtime, store: FaultyStore, seed: int) -> None:
    acknowledged: dict[str, list[JobId]] = {}
    calling = Calling(runtime, None)
    store.fail(*Random(seed).choices(FAULTS, k=200))

    async def load() -> None:
        for number in range(15):
            try:
                acknowledged[str(number)] = await calling.run_mutation(begin, (str(number),), {})
            except StoreUnavailableError:
                continue
        for jobs in acknowledged.values():
            for job in jobs:
                await Reading(runtime).wait(job)

    anyio.run(load)
    store.faults.clear()
    with store.snapshot() as snapshot:
        notes = snapshot.sql("SELECT text FROM notes", {}).fetchall()
        states = snapshot.sql("SELECT id, state FROM _scheduled_jobs", {}).fetchall()

    written = Counter(text for (text,) in notes)
    promised = {f"{kind} {text}" for text in acknowledged for kind in ("mutation", "action")}
    assert acknowledged
    assert promised <= set(written)
    assert {written[text] for text in promised} == {1}
    assert {state for _, state in states} == {"succeeded"}
    assert len({job for job, _ in states}) == len(states)
