"""Which file a notebook's app is kept in."""

from pathlib import Path

import pytest

from rxferrix_lab.notebook.notebook_file import database_beside


@pytest.mark.parametrize(
    ("environ", "namespace", "file"),
    [
        ({"JPY_SESSION_NAME": "/books/sales.ipynb"}, {}, "sales.duckdb"),
        ({}, {"__vsc_ipynb_file__": "/books/my notes.ipynb"}, "my notes.duckdb"),
        ({"JPY_SESSION_NAME": "console-1-a4"}, {}, "rxferrix.duckdb"),
        ({"JPY_SESSION_NAME": ".ipynb"}, {}, "rxferrix.duckdb"),
        ({}, {}, "rxferrix.duckdb"),
        ({}, {"__vsc_ipynb_file__": 3}, "rxferrix.duckdb"),
    ],
)
def test_file_is_named_after_the_notebook_where_it_is_told(
    environ: dict[str, str], namespace: dict[str, object], file: str
) -> None:
    assert database_beside(environ, namespace) == Path(file)
