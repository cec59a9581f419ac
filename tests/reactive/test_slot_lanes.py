from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from rxferrix_lab.domain.job import JobId
from rxferrix_lab.reactive.picture import PoolRun
from rxferrix_lab.reactive.slot_lanes import slot_lanes

START = datetime(2026, 1, 1, tzinfo=UTC)


def run(job: int, begins: int, lasts: int | None) -> PoolRun:
    began = START + timedelta(seconds=begins)
    ended = began + timedelta(seconds=lasts) if lasts is not None else None
    return PoolRun(JobId(job), "f", began, ended, "running" if ended is None else "succeeded")


def test_runs_that_follow_each_other_share_a_lane() -> None:
    assert [placed.lane for placed in slot_lanes([run(1, 0, 5), run(2, 5, 5)])] == [0, 0]


def test_run_that_has_not_ended_keeps_its_lane() -> None:
    runs = [run(1, 0, None), run(2, 1, 1), run(3, 10, 1)]

    assert [placed.lane for placed in slot_lanes(runs)] == [0, 1, 1]


@given(st.lists(st.tuples(st.integers(0, 50), st.none() | st.integers(0, 20)), max_size=30))
def test_runs_in_one_lane_never_overlap(spans: list[tuple[int, int | None]]) -> None:
    placed = slot_lanes([run(job, *span) for job, span in enumerate(spans)])

    assert len(placed) == len(spans)
    for index, later in enumerate(placed):
        for earlier in placed[:index]:
            if earlier.lane == later.lane:
                assert earlier.run.finished_at is not None
                assert earlier.run.finished_at <= later.run.started_at
