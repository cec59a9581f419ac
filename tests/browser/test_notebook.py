"""The notebook toolkit in a real JupyterLab."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.jupyter import PATIENCE_MS, Notebook, running_lab, write_notebook

pytestmark = pytest.mark.browser
LOAD = "from datetime import datetime, timedelta, UTC\nimport time\n%load_ext rxferrix_lab"
Open = Callable[..., Notebook]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def lab(folder: Path) -> Iterator[str]:
    with running_lab(folder) as address:
        yield address


@pytest.fixture
def open_notebook(lab: str, folder: Path, page: Page) -> Iterator[Open]:
    """Opens a notebook with these cells; what it asked of other machines is a failure."""
    opened: list[Notebook] = []

    def open_with(name: str, *cells: str) -> Notebook:
        write_notebook(folder / name, *cells)
        page.set_viewport_size({"width": 1200, "height": 1600})
        opened.append(Notebook(page, lab, name))
        return opened[-1]

    yield open_with
    assert [url for notebook in opened for url in notebook.outside] == []


def test_app_is_kept_in_a_file_named_after_the_notebook(open_notebook: Open, folder: Path) -> None:
    notebook = open_notebook("sales.ipynb", LOAD)

    expect(notebook.run(0)).to_contain_text(f"app: running, kept in {folder / 'sales.duckdb'}")


def test_job_is_seen_to_end_without_another_cell_being_run(
    open_notebook: Open, folder: Path
) -> None:
    notebook = open_notebook(
        "job.ipynb",
        LOAD,
        "%%action send(to: str) -> str\nprint('dear', to)\n"
        "while not pathlib.Path('may-end').exists():\n"
        "    ctx.sleep(timedelta(milliseconds=50))\n"
        "return to.upper()",
        "import pathlib\n%rxferrix run send('ann')",
    )
    for cell in (0, 1):
        notebook.run(cell)

    shown = notebook.run(2)

    expect(shown).to_contain_text("running")
    expect(shown).to_contain_text("dear ann")
    (folder / "may-end").touch()
    expect(shown).to_contain_text("succeeded", timeout=PATIENCE_MS)
    expect(shown).to_contain_text('result "ANN"')


def test_cell_run_twice_declares_one_interval_and_makes_one_first_run(open_notebook: Open) -> None:
    notebook = open_notebook(
        "twice.ipynb",
        LOAD,
        "%%mutation beat --every 1h\npass",
        "print(len(app.jobs()), len(app.sql('SELECT * FROM _crons')))",
    )
    for cell in (0, 0, 1, 1):
        notebook.run(cell)

    expect(notebook.run(2)).to_have_text("1 1")


def test_interval_goes_on_and_is_seen_to_while_a_cell_is_busy(open_notebook: Open) -> None:
    notebook = open_notebook(
        "busy.ipynb",
        LOAD,
        "%%mutation beat --every 1s\npass",
        "app.show.crons()",
        "before = len(app.jobs())\ntime.sleep(20)\nprint(len(app.jobs()) - before, 'runs')",
    )
    for cell in (0, 1, 2):
        notebook.run(cell)
    expect(notebook.output(2)).to_contain_text(re.compile(r"runs\s*\d"), timeout=PATIENCE_MS)
    prompt = notebook.cell(3).locator(".jp-InputPrompt").first

    notebook.start(3)

    expect(prompt).to_have_text("[*]:")
    runs = runs_shown(notebook.output(2))
    more = "|".join(str(runs + count) for count in range(2, 12))
    expect(notebook.output(2)).to_contain_text(re.compile(f"runs\\s*({more})\\D"), timeout=15_000)
    expect(prompt).to_have_text("[*]:")
    notebook.wait_until_ended(3)
    expect(notebook.output(3)).to_have_text(re.compile(r"(19|20|21) runs"))


def test_live_jobs_go_on_beside_other_views_without_an_error_in_the_page(
    open_notebook: Open,
) -> None:
    notebook = open_notebook(
        "views.ipynb",
        LOAD,
        "%%action report --every 1s\nctx.sleep(timedelta(seconds=2))",
        "app.show.jobs()",
        "app.show.pools()",
    )
    for cell in (0, 1, 2, 3):
        notebook.run(cell)
    listed = notebook.output(2)

    expect(listed).to_contain_text("running", timeout=PATIENCE_MS)
    expect(listed).to_contain_text(re.compile(r"succeeded\s*[3-9]"), timeout=PATIENCE_MS)
    assert notebook.errors == []


def test_slider_dragged_across_the_gap_of_bucharest_shows_the_moved_run(
    open_notebook: Open,
) -> None:
    notebook = open_notebook(
        "gap.ipynb",
        "from datetime import datetime, UTC\nfrom rxferrix_lab import RxFerrix, VirtualClock\n"
        "start = datetime(2026, 3, 28, 12, tzinfo=UTC)\n"
        "app = RxFerrix('gap.duckdb', clock=VirtualClock(start))\n%load_ext rxferrix_lab",
        "%%mutation night --cron '0 30 3 * * *' --zone Europe/Bucharest\npass",
        "%rxferrix lab --days 2",
    )
    for cell in (0, 1, 2):
        notebook.run(cell)
    shown = notebook.output(2)
    thumb = shown.locator(".MuiSlider-thumb")
    expect(thumb).to_be_visible(timeout=PATIENCE_MS)

    drag_to_the_middle(notebook.page)

    expect(shown).to_contain_text("2026-03-29 04:30:00 EEST (UTC+3)", timeout=PATIENCE_MS)
    expect(shown).to_contain_text("moved by a gap: it names 03:30")


def test_history_is_there_after_the_kernel_was_restarted(open_notebook: Open) -> None:
    notebook = open_notebook(
        "history.ipynb",
        LOAD,
        "%%mutation note(text: str)\npass",
        "%rxferrix run note('before the restart')",
        "%rxferrix jobs",
    )
    for cell in (0, 1, 2):
        notebook.run(cell)

    notebook.restart_kernel()
    notebook.run(0)

    expect(notebook.run(3)).to_contain_text("before the restart")


def test_second_notebook_on_the_same_file_is_told_who_holds_it(open_notebook: Open) -> None:
    first = open_notebook("holder.ipynb", LOAD)
    first.run(0)

    second = open_notebook("second.ipynb", LOAD, "%rxferrix start holder.duckdb")
    second.run(0)

    expect(second.run(1)).to_contain_text("holds the database")
    expect(second.output(1)).to_contain_text("%rxferrix start other.duckdb")


def runs_shown(crons: Locator) -> int:
    """How often the view of crons says that its cron ran."""
    counted = crons.get_by_text(re.compile(r"^\s*runs\s*\d+")).last.inner_text()
    return int(re.findall(r"\d+", counted)[0])


def drag_to_the_middle(page: Page) -> None:
    """Drag a slider's thumb from its left end to the middle of its rail."""
    rail = page.locator(".MuiSlider-root").first.bounding_box()
    assert rail is not None
    height = rail["y"] + rail["height"] / 2
    page.mouse.move(rail["x"] + 1, height)
    page.mouse.down()
    page.mouse.move(rail["x"] + rail["width"] / 4, height, steps=5)
    page.mouse.move(rail["x"] + rail["width"] / 2, height, steps=5)
    page.mouse.up()
