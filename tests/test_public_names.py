"""The package's front door: what it shows, and what opening it costs."""

import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

import rxferrix_lab
from rxferrix_lab import errors

CHECKOUT = Path(__file__).resolve().parent.parent
HEAVY = ("panel", "bokeh", "IPython", "pandas", "param")
OWN_TIME = timedelta(milliseconds=300)


@pytest.fixture
def documented() -> set[str]:
    """The names in the README's list, which stands between two comments."""
    readme = (CHECKOUT / "README.md").read_text()
    _, _, rest = readme.partition("<!-- public names -->")
    listed, end, _ = rest.partition("<!-- /public names -->")
    assert end
    return set(re.findall(r"`(\w+)`", listed))


def test_public_names_are_exactly_those_documented(documented: set[str]) -> None:
    assert set(rxferrix_lab.__all__) == documented


def test_every_public_name_is_there() -> None:
    missing = [name for name in rxferrix_lab.__all__ if not hasattr(rxferrix_lab, name)]

    assert missing == []


def test_every_error_is_public() -> None:
    raised = {name for name, value in vars(errors).items() if is_error(value)}

    assert raised <= set(rxferrix_lab.__all__)


def is_error(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, errors.RxFerrixError)


def test_every_error_has_a_builtin_ancestor() -> None:
    descendants = errors.RxFerrixError.__subclasses__()

    lone = [each.__name__ for each in descendants if len(each.__bases__) == 1]

    assert lone == ["ActionCanceled"]  # caught only by who asked for it


def run_python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=True
    )


@pytest.mark.parametrize("heavy", HEAVY)
def test_importing_the_package_loads_no(heavy: str) -> None:
    loaded = run_python("-c", "import rxferrix_lab, sys; print(*sys.modules)").stdout.split()

    assert "rxferrix_lab" in loaded
    assert heavy not in loaded


def own_import_time() -> timedelta:
    """What the package's own modules took to run, without what they import.

    A line of `-X importtime` reads "import time: self in µs | cumulative | module".
    """
    report = run_python("-X", "importtime", "-c", "import rxferrix_lab").stderr
    lines = re.findall(r"^import time:\s+(\d+) \|.*\|\s+rxferrix_lab\b", report, re.MULTILINE)
    assert lines
    return timedelta(microseconds=sum(map(int, lines)))


def test_importing_the_package_takes_under_300_ms_of_its_own() -> None:
    # The only promise about real time in the suite. The best of five is the package's cost; the
    # rest is the machine's.
    assert min(own_import_time() for _ in range(5)) < OWN_TIME
