"""What an app is made with is checked when it is made."""

from datetime import timedelta
from typing import Any

import pytest

from rxferrix_lab import RxFerrix, TestApp

REFUSED: list[dict[str, Any]] = [
    {"database": 5},
    {"database": ""},
    {"clock": 5},
    {"seed": "x"},
    {"seed": 1.5},
    {"grace": timedelta(seconds=-1)},
    {"grace": 5},
    {"keep": timedelta(0)},
    {"keep": 7},
    {"parallelism": 0},
    {"parallelism": "many"},
]
REFUSED_IN_TESTS: list[dict[str, Any]] = [
    {"seed": "a"},
    {"max_steps": 0},
    {"real_timeout": 5},
    {"real_timeout": timedelta(seconds=-1)},
]


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_app_refuses_options_that_cannot_be_meant(options: dict[str, Any]) -> None:
    with pytest.raises((TypeError, ValueError), match=r"not |grace|keep|parallelism"):
        RxFerrix(**options)


@pytest.mark.parametrize("options", REFUSED_IN_TESTS, ids=str)
def test_test_app_refuses_options_that_cannot_be_meant(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="not "):
        TestApp(RxFerrix(), **options)
