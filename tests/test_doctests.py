"""The examples in the docstrings of `domain/` run, and say what they show."""

import doctest
import importlib
from pathlib import Path

import pytest

DOMAIN = Path(__file__).resolve().parent.parent / "rxferrix_lab" / "domain"
MODULES = sorted(path.stem for path in DOMAIN.glob("*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_examples_of(module: str) -> None:
    name = "rxferrix_lab.domain" if module == "__init__" else f"rxferrix_lab.domain.{module}"

    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_domain_has_examples() -> None:
    assert any(">>>" in (DOMAIN / f"{module}.py").read_text() for module in MODULES)
