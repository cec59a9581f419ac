"""Each notebook of the tutorial runs from a clean folder, and is kept as a reader wants it."""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NAMES = [
    *("01_first_job", "02_transactions_and_exactly_once", "03_crons_across_clock_changes"),
    *("04_workpools_and_completions", "05_cancellation", "06_virtual_time_with_the_slider"),
    *("07_your_own_history_in_sql", "08_operating_with_the_dashboard"),
]
MOST_CELLS = 15
each = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.reads(path.read_text(), as_version=4)  # type: ignore[no-any-return]  # untyped


def test_tutorial_has_all_its_parts() -> None:
    assert [path.stem for path in NOTEBOOKS] == NAMES


@each
def test_notebook_runs_from_a_clean_folder(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(FOLDER.parent))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / ".ipython"))
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    notebook = read(path)

    NotebookClient(notebook, timeout=30, resources={"metadata": {"path": str(tmp_path)}}).execute()

    assert [name for cell in notebook.cells for name in errors_of(cell)] == []


def errors_of(cell: nbformat.NotebookNode) -> list[str]:
    """What went wrong below a cell, also where it did not stop the notebook."""
    outputs = cell.get("outputs", [])
    texts = ["".join(output.get("text", "")) for output in outputs]
    return [text for text in texts if re.search(r"Traceback|UsageError", text)]


@each
def test_notebook_is_one_idea_with_its_outputs_stripped(path: Path) -> None:
    notebook = read(path)

    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(notebook.cells) < MOST_CELLS
    assert [cell.outputs for cell in code] == [[]] * len(code)
    assert {cell.execution_count for cell in code} == {None}
    nbformat.validate(notebook)
