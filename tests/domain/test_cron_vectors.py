"""The published vectors: `tests/vectors/cron_dst.jsonl`, one case a line."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from rxferrix_lab.domain.cron import CronSchedule

VECTORS = Path(__file__).parents[1] / "vectors" / "cron_dst.jsonl"
CASES = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_vector_names_the_next_runs_in_order(case: dict[str, str]) -> None:
    schedule = CronSchedule(case["expr"], case["tz"])
    expected = [datetime.fromisoformat(text) for text in case["next"]]
    after = datetime.fromisoformat(case["after"])

    found: list[datetime | None] = []
    moment: datetime | None = after
    for _ in expected:
        assert moment is not None
        moment = schedule.next_instant(moment)
        found.append(moment)

    assert found == expected
    assert [o.instant for o in schedule.occurrences(after, expected[-1])] == expected
    assert schedule.count(after, expected[-1]) == len(expected)
