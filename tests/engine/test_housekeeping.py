"""The file is rewritten once nothing happened for a while."""

import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from rxferrix_lab import JobId, RxFerrix
from rxferrix_lab.app.host import Host
from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.engine import housekeeping
from rxferrix_lab.engine.clock import SystemClock
from rxferrix_lab.engine.options import Options
from rxferrix_lab.storage.store import Store


class WatchedStore(Store):
    """Tells when it was compacted."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.compact_above = 1
        self.was_compacted = threading.Event()

    def compact(self) -> bool:
        was_compacted = super().compact()
        if was_compacted:
            self.was_compacted.set()
        return was_compacted


@pytest.fixture
def store(tmp_path: Path) -> Generator[WatchedStore, None, None]:
    store, host = WatchedStore(tmp_path / "app.duckdb"), Host()
    host.start(Runtime(RxFerrix().registry, store, SystemClock(), Options()))
    yield store
    host.stop()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "IDLE_S", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_quiet_app_with_a_large_log_is_compacted(store: WatchedStore) -> None:
    assert store.was_compacted.wait(30)
    assert not Path(f"{store.path}.wal").exists()


@pytest.mark.usefixtures("impatient")
def test_reads_go_on_afterwards(store: WatchedStore) -> None:
    store.was_compacted.wait(30)

    with store.snapshot() as snapshot:
        found = snapshot.job(JobId(1))
    assert found is None
