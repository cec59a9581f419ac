from datetime import UTC, datetime, timedelta
from typing import Literal

from rxferrix_lab.domain.job import JobId
from rxferrix_lab.reactive.picture import CronRun, RunOutcome
from rxferrix_lab.views.cron_strip import SHAPES, cells, in_words, legend

AT = datetime(2026, 3, 29, 1, tzinfo=UTC)


def run(outcome: RunOutcome, missed: int = 0, detail: str = "") -> CronRun:
    job = None if outcome == "skipped" else JobId(7)
    took = timedelta(seconds=2) if outcome == "succeeded" else None
    return CronRun(AT, job, outcome, missed, detail, took)


def test_cell_says_when_how_which_job_and_how_long() -> None:
    assert cells([run("succeeded")], "Europe/Bucharest") == [
        ("succeeded", "Sun 29 Mar 04:00:00 · succeeded · job 7 · took 2.0 s")
    ]


def test_skipped_cell_says_why() -> None:
    [(shape, said)] = cells([run("skipped", detail="the previous run has not ended")], "UTC")

    assert shape == "skipped"
    assert said.endswith("the previous run has not ended")


def test_what_passed_unseen_has_a_crossed_cell_before_the_run_that_made_up() -> None:
    found = cells([run("failed", missed=3)], "UTC")

    assert [shape for shape, _ in found] == ["missed", "failed"]
    assert "3 occurrences passed unseen" in found[0][1]


def test_strip_is_told_in_numbers_to_those_who_hear_it() -> None:
    runs = [run("succeeded"), run("succeeded", missed=2), run("skipped")]

    assert in_words(runs) == "last 3: 2 succeeded, 1 skipped, 2 missed"
    assert in_words([]) == "has not run yet"


def test_every_outcome_has_a_shape_of_its_own() -> None:
    outcomes: tuple[RunOutcome | Literal["missed"], ...] = (
        *("succeeded", "failed", "canceled", "skipped", "missed"),
        *("running", "canceling", "pending"),
    )

    assert set(SHAPES) == set(outcomes)
    assert len({path for path, _ in SHAPES.values()}) == len(SHAPES)
    assert all(name in legend() for name in outcomes)
