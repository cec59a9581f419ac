"""Finished rows: the whole result of a statement, with nothing open behind it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

Row = tuple[Any, ...]  # DuckDB types the values, we cannot


class Rows:
    """What `sql` gives back.

    Attributes:
        columns: the names of the columns, in order.
        rowcount: the rows that were read, or that the statement wrote.
    """

    __slots__ = ("_rows", "columns", "rowcount")

    def __init__(self, columns: list[str], rows: list[Row], rowcount: int | None = None) -> None:
        self.columns = columns
        self.rowcount = len(rows) if rowcount is None else rowcount
        self._rows = rows

    def fetchall(self) -> list[Row]:
        """Every row, in order."""
        return list(self._rows)

    def fetchone(self) -> Row | None:
        """The first row, or None where there is none."""
        return self._rows[0] if self._rows else None

    def scalar(self) -> Any:  # noqa: ANN401  # as the database types it
        """The first value of the first row, or None where there is no row."""
        return self._rows[0][0] if self._rows else None

    def dicts(self) -> list[dict[str, Any]]:
        """Every row by column name; of two columns of one name the last counts."""
        return [dict(zip(self.columns, row, strict=True)) for row in self._rows]

    def df(self) -> pd.DataFrame:
        """The rows as a pandas data frame; instants are aware and in UTC."""
        import pandas as pd  # importing the package must not load pandas

        return pd.DataFrame.from_records(self._rows, columns=self.columns)

    def polars(self) -> Any:  # noqa: ANN401  # of a library that may be missing
        """The rows as a polars data frame.

        Raises:
            ImportError: if polars is not installed.
        """
        polars = _library("polars")
        return polars.DataFrame(self._rows, schema=self.columns, orient="row")

    def arrow(self) -> Any:  # noqa: ANN401  # of a library that may be missing
        """The rows as a pyarrow table.

        Raises:
            ImportError: if pyarrow is not installed.
        """
        pyarrow = _library("pyarrow")
        columns = [[row[at] for row in self._rows] for at in range(len(self.columns))]
        return pyarrow.table(columns, names=self.columns)

    def __iter__(self) -> Iterator[Row]:
        """Iterate over the rows."""
        return iter(self._rows)

    def __len__(self) -> int:
        """The number of rows that came back."""
        return len(self._rows)

    def __repr__(self) -> str:
        """The shape, not the data."""
        return f"<Rows {len(self._rows)} x {len(self.columns)}: {', '.join(self.columns[:8])}>"


def _library(name: str) -> Any:  # noqa: ANN401  # the module itself
    try:
        return import_module(name)
    except ImportError:
        raise ImportError(
            f"{name} is not installed; install it with pip install {name}, or take df()"
        ) from None
