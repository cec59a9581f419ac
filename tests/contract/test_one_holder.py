"""Contract 7.3: one app in one process holds the file."""

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from rxferrix_lab import (
    RxFerrix,
    TestApp,
)
from rxferrix_lab.errors import (
    DatabaseInUseError,
)


class TestOneHolder:
    @pytest.fixture
    def held(self, tmp_path: Path) -> Generator[Path, None, None]:
        path = tmp_path / "a.duckdb"
        app = RxFerrix(path).start()
        yield path
        app.stop()

    def test_a_second_app_in_this_process_is_refused(self, held: Path) -> None:
        with pytest.raises(DatabaseInUseError) as refused:
            RxFerrix(held).start()

        assert refused.value.pid == os.getpid()
        assert refused.value.path == held
        assert str(held) in str(refused.value)
        assert str(os.getpid()) in str(refused.value)

    def test_a_second_name_of_the_file_is_no_way_around(self, held: Path) -> None:
        other = held.with_name("b.duckdb")
        other.symlink_to(held)

        with pytest.raises(DatabaseInUseError):
            RxFerrix(other).start()

    async def test_a_test_on_the_file_is_refused_too(self, held: Path) -> None:
        with pytest.raises(DatabaseInUseError):
            async with TestApp(RxFerrix(), database=held):
                pass

    def test_a_second_process_is_refused_and_told_what_to_do(self, held: Path) -> None:
        code = "import sys; from rxferrix_lab import RxFerrix; RxFerrix(sys.argv[1]).start()"
        second = subprocess.run(
            [sys.executable, "-c", code, str(held)], capture_output=True, text=True, check=False
        )

        assert second.returncode != 0
        told = second.stderr.splitlines()[-1]
        assert "DatabaseInUseError" in told
        assert str(held) in told
        assert f"process {os.getpid()}" in told
        assert "stop" in told

    def test_after_the_stop_another_may_have_it(self, tmp_path: Path) -> None:
        path = tmp_path / "a.duckdb"
        RxFerrix(path).start().stop()

        RxFerrix(path).start().stop()
