"""Which notebook a kernel belongs to, and so which file its app is kept in."""

from collections.abc import Mapping
from pathlib import Path

FALLBACK = "rxferrix.duckdb"


def database_beside(environ: Mapping[str, str], namespace: Mapping[str, object]) -> Path:
    """The database file in the kernel's folder that is named after the notebook.

    Jupyter tells the notebook in `JPY_SESSION_NAME`, VS Code in a variable of the namespace. A
    console, and a kernel that is told nothing, use `rxferrix.duckdb`.
    """
    told = namespace.get("__vsc_ipynb_file__") or environ.get("JPY_SESSION_NAME")
    if not isinstance(told, str) or Path(told).suffix != ".ipynb":
        return Path(FALLBACK)
    return Path(f"{Path(told).stem}.duckdb")
