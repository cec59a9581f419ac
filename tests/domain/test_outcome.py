"""How a job ended."""

from dataclasses import FrozenInstanceError
from typing import get_type_hints

import pytest

from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded, WorkResult


def test_work_result_is_usable_in_an_annotation_at_run_time() -> None:
    def done(result: WorkResult[str]) -> None: ...

    assert get_type_hints(done)["result"] == Succeeded[str] | Failed | Canceled


@pytest.mark.parametrize(
    ("outcome", "field"),
    [
        (Succeeded(1), "value"),
        (Failed(JobError("error", "E", "", "")), "error"),
        (Canceled(), "reason"),
    ],
)
def test_outcome_cannot_be_changed(outcome: WorkResult[int], field: str) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(outcome, field, 1)


def test_outcome_of_a_named_type_can_be_made() -> None:
    assert Succeeded[int](1) == Succeeded(1)


def test_canceled_needs_no_reason() -> None:
    assert Canceled().reason == ""
