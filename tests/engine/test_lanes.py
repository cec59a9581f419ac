"""Order over all lanes, windows of keys, and slots."""

from datetime import UTC, datetime, timedelta

from rxferrix_lab.domain.job import JobId, JobKind, JobRecord
from rxferrix_lab.engine import lanes as modules
from rxferrix_lab.engine.lanes import MUTATIONS, PLAIN_ACTIONS, Lane, Lanes
from rxferrix_lab.storage.scheduler_rows import DueKey

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LATER = NOON + timedelta(hours=1)


def key(seconds: int, job: int) -> DueKey:
    return (NOON + seconds * SECOND, JobId(job))


def job(
    seconds: int, number: int, kind: JobKind = "mutation", pool: str | None = None
) -> JobRecord:
    due = NOON + seconds * SECOND
    return JobRecord(
        id=JobId(number),
        function="f",
        kind=kind,
        args="{}",
        state="pending",
        trigger="user",
        scheduled_for=due,
        due_at=due,
        created_at=NOON,
        pool=pool,
    )


def take_all(lanes: Lanes, now: datetime = LATER) -> list[int]:
    taken: list[int] = []
    while (lane := lanes.next_due(now)) is not None:
        taken.append(take(lane))
    return taken


def take(lane: Lane) -> int:
    lane.heap.sort()
    _, number = lane.heap.pop(0)
    return number


class TestOrder:
    def test_it_is_by_due_time_and_then_by_id_over_all_lanes(self) -> None:
        lanes = Lanes(parallelism=10)
        lanes.resize("pool", 10)
        lanes.offer(job(2, 1))
        lanes.offer(job(1, 4, "action"))
        lanes.offer(job(1, 3, "action", "pool"))
        lanes.offer(job(1, 5))

        assert take_all(lanes) == [3, 4, 5, 1]

    def test_what_is_not_due_waits(self) -> None:
        lanes = Lanes(parallelism=10)
        lanes.offer(job(5, 1))

        assert take_all(lanes, NOON) == []
        assert lanes.next_instant() == NOON + 5 * SECOND

    def test_a_lane_without_a_free_slot_is_passed_over(self) -> None:
        lanes = Lanes(parallelism=1)
        lanes.lane(PLAIN_ACTIONS).in_use = 1
        lanes.offer(job(0, 1, "action"))
        lanes.offer(job(1, 2))

        assert take_all(lanes) == [2]
        assert lanes.next_instant() is None

    def test_a_pool_that_nobody_declared_has_no_slots(self) -> None:
        lanes = Lanes(parallelism=1)
        lanes.offer(job(0, 1, "action", "nobody's"))

        assert take_all(lanes) == []


class TestBehindTheWindow:
    def test_a_lane_that_is_being_read_holds_back_what_may_come_later(self) -> None:
        lanes = Lanes(parallelism=1)
        lanes.read_from_start([PLAIN_ACTIONS])
        lanes.offer(job(1, 2))
        before = take_all(lanes)

        lanes.lane(PLAIN_ACTIONS).refill([key(0, 1)])

        assert before == []
        assert take_all(lanes) == [1, 2]

    def test_nothing_is_awaited_while_a_lane_is_being_read(self) -> None:
        lanes = Lanes(parallelism=1)
        lanes.read_from_start([PLAIN_ACTIONS])
        lanes.offer(job(1, 2))

        assert lanes.next_instant() is None

    def test_what_lies_before_the_window_that_is_known_goes_on(self) -> None:
        lanes = Lanes(parallelism=1)
        lanes.lane(PLAIN_ACTIONS).window_end = key(5, 7)
        lanes.offer(job(4, 2))
        lanes.offer(job(6, 3))

        assert take_all(lanes) == [2]

    def test_a_paused_pool_that_is_not_read_holds_nothing_back(self) -> None:
        lanes = Lanes(parallelism=1)
        lanes.resize("paused", 0)
        lanes.read_from_start([("action", "paused")])
        lanes.offer(job(1, 2))

        assert take_all(lanes) == [2]

    def test_a_job_behind_the_window_is_left_to_the_database(self) -> None:
        lane = Lane(MUTATIONS, limit=None, window_end=key(5, 7))

        lane.offer(key(5, 8))
        lane.offer(key(5, 6))

        assert lane.heap == [key(5, 6)]

    def test_a_refill_that_is_not_full_is_the_last(self) -> None:
        lane = Lane(MUTATIONS, limit=None, window_end=modules.BEFORE_ALL, is_refilling=True)

        lane.refill([key(0, 1), key(1, 2)])

        assert lane.window_end is None
        assert not lane.is_low

    def test_a_full_one_ends_at_its_last_key(self) -> None:
        lane = Lane(MUTATIONS, limit=None, window_end=modules.BEFORE_ALL, is_refilling=True)
        keys = [key(0, number) for number in range(modules.WINDOW)]

        lane.refill(keys)

        assert lane.window_end == keys[-1]

    def test_more_keys_than_a_lane_holds_are_given_back_to_the_database(self) -> None:
        lane = Lane(MUTATIONS, limit=None)

        for number in range(modules.LARGEST_LANE + 1):
            lane.offer(key(0, number))

        assert len(lane.heap) == modules.WINDOW
        assert lane.window_end == key(0, modules.WINDOW - 1)
