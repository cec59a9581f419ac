"""Outcomes and errors as they are stored."""

import json

import pytest

from rxferrix_lab.app.work_results import decode_error, encode_error, encode_outcome
from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded

ERROR = JobError("interrupted", "", "the app stopped", "")


def test_error_comes_back_as_it_was() -> None:
    assert decode_error(encode_error(ERROR)) == ERROR


def test_error_with_text_that_json_cannot_hold_is_stored_all_the_same() -> None:
    error = JobError("error", "OSError", "no file \udcff", "File 'a'")

    assert decode_error(encode_error(error)).message == "no file \\udcff"


@pytest.mark.parametrize(
    ("outcome", "stored"),
    [
        (Succeeded("[1]"), {"$outcome": "succeeded", "value": [1]}),
        (
            Failed(ERROR),
            {
                "$outcome": "failed",
                "error": {
                    "kind": "interrupted",
                    "type": "",
                    "message": "the app stopped",
                    "traceback": "",
                },
            },
        ),
        (Canceled("by hand"), {"$outcome": "canceled", "reason": "by hand"}),
    ],
)
def test_outcome_is_stored_with_its_tag(
    outcome: Succeeded[str] | Failed | Canceled, stored: object
) -> None:
    assert json.loads(encode_outcome(outcome)) == stored
