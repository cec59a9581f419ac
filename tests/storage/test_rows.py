"""Finished rows as the frames of other libraries."""

import importlib.util
import sys
from datetime import UTC, datetime

import pytest

from rxferrix_lab.storage.rows import Rows

NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)


@pytest.fixture
def rows() -> Rows:
    return Rows(["id", "name", "at"], [(1, "ann", NOON), (2, None, NOON)])


def test_rows_become_a_polars_frame(rows: Rows) -> None:
    frame = rows.polars()

    assert frame.columns == ["id", "name", "at"]
    assert frame.rows() == rows.fetchall()


def test_no_rows_become_an_empty_polars_frame_with_the_columns() -> None:
    frame = Rows(["id", "name"], []).polars()

    assert frame.columns == ["id", "name"]
    assert frame.height == 0


@pytest.mark.skipif(
    importlib.util.find_spec("pyarrow") is None, reason="pyarrow is missing: it is optional"
)
def test_rows_become_an_arrow_table(rows: Rows) -> None:
    table = rows.arrow()

    assert table.column_names == ["id", "name", "at"]
    assert table.to_pylist()[0] == {"id": 1, "name": "ann", "at": NOON}


def test_a_missing_library_is_named_with_the_way_out(
    rows: Rows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)

    with pytest.raises(ImportError, match="pip install polars"):
        rows.polars()
