"""What every test stands on: which tests run here, in what order, and on which browser.

No fixture of a single floor lives here; those are beside the tests that use them.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# contract.py is read by the type checkers, and would fail if it were run.
collect_ignore = ["typing"]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)
IS_CI = "CI" in os.environ

# A deadline is a timed assertion, and a loaded machine would fail it.
settings.register_profile("rxferrix_lab", deadline=None, derandomize=IS_CI, print_blob=True)
settings.load_profile("rxferrix_lab")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave browser tests to the end, and out where there is no Chromium.

    Playwright's event loop stays in the main thread once it was started, and no other loop can be
    started in that thread after it. CI leaves nothing out: there a missing Chromium is a failure.
    """
    in_browser = [item for item in items if item.get_closest_marker("browser")]
    elsewhere = [item for item in items if not item.get_closest_marker("browser")]
    if CHROMIUM is None and not IS_CI:
        config.hook.pytest_deselected(items=in_browser)
        in_browser = []
    items[:] = elsewhere + in_browser


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Launch the system's Chromium, so that no browser has to be downloaded.

    Root cannot use Chromium's sandbox, and a container's /dev/shm is too small for it.
    """
    return {
        **browser_type_launch_args,
        "executable_path": CHROMIUM,
        "args": ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"],
    }


@pytest.fixture(scope="session")
def checkout() -> Path:
    """The folder of the checkout, for tests that read the project's own files."""
    return Path(__file__).resolve().parent.parent
