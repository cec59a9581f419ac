"""Where the package may be installed, and how far each dependency may go."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ELSEWHERE = "import sys; sys.platform = {platform!r}; import rxferrix_lab"


def project(checkout: Path) -> Any:  # noqa: ANN401  # a TOML table
    """The project's own table."""
    return tomllib.loads((checkout / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("platform", ["win32", "emscripten"])
def test_import_elsewhere_than_on_linux_and_macos_says_so(platform: str, checkout: Path) -> None:
    script = ELSEWHERE.format(platform=platform)

    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=checkout, capture_output=True, text=True, check=False
    )

    assert ended.returncode == 1
    [said] = ended.stderr.splitlines()[-1:]
    assert said.startswith("ImportError: rxferrix_lab runs on Linux and macOS, not on " + platform)


def test_every_direct_dependency_is_capped(checkout: Path) -> None:
    table = project(checkout)
    extras = [need for needs in table["optional-dependencies"].values() for need in needs]
    needs = [need for need in (*table["dependencies"], *extras) if "rxferrix" not in need]

    # A version by year has no major of its own to stop at: tzdata is data, and newer is righter.
    uncapped = [need for need in needs if "<" not in need and not need.startswith("tzdata")]

    assert needs
    assert uncapped == []


@pytest.mark.parametrize(
    ("package", "bounds"),
    [("duckdb", ">=2.0.1,<2.1"), ("panel", ">=1.9.4,<1.10"), ("tzdata", ">=2026.1")],
)
def test_packages_whose_details_are_relied_on_are_bound(
    package: str, bounds: str, checkout: Path
) -> None:
    needs = {re.split(r"[<>=~!]", need)[0]: need for need in project(checkout)["dependencies"]}

    assert needs[package] == package + bounds


def test_python_is_3_11_or_newer(checkout: Path) -> None:
    assert project(checkout)["requires-python"] == ">=3.11"
