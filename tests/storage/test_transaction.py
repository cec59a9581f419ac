"""One transaction that many requests share: what it owes, sends, counts and proves."""

from collections.abc import Generator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.domain.lifecycle import Cancel, Claim, Succeed, apply
from rxferrix_lab.errors import StoreUnavailableError
from rxferrix_lab.storage.job_updates import FEW
from rxferrix_lab.storage.store import Store
from rxferrix_lab.storage.transaction import Transaction
from tests.engine.log_rows import entry

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Generator[Store, None, None]:
    made = Store(tmp_path / "app.duckdb")
    made.open()
    yield made
    made.close()


def add(transaction: Transaction) -> JobRecord:
    job = JobRecord(
        id=transaction.draw_job_id(),
        function="act",
        kind="action",
        args="{}",
        state="pending",
        trigger="user",
        scheduled_for=NOON,
        due_at=NOON,
        created_at=NOON,
    )
    transaction.add_job(job)
    return job


def added(store: Store, number: int) -> list[JobRecord]:
    transaction = store.transaction()
    jobs = [add(transaction) for _ in range(number)]
    transaction.finish()
    return jobs


def states(store: Store) -> list[str]:
    query = "SELECT state FROM _scheduled_jobs ORDER BY id"
    return [state for (state,) in store.read(lambda writer: writer.execute(query).fetchall())]


class TestCount:
    """COMMIT alone proves nothing."""

    @pytest.mark.parametrize("number", [1, FEW, FEW + 1, 10 * FEW])
    def test_a_job_that_is_gone_fails_the_commit(self, store: Store, number: int) -> None:
        jobs = added(store, number)
        transaction = store.transaction()
        for job in jobs:
            transaction.save_job(apply(job, Cancel(), NOON))
        transaction.save_job(apply(replace(jobs[0], id=JobId(10_000)), Cancel(), NOON))

        with pytest.raises(StoreUnavailableError):
            transaction.finish()
        transaction.rollback()

        assert states(store) == ["pending"] * number

    @pytest.mark.parametrize("later", [1, FEW, FEW + 1, 5 * FEW])
    @pytest.mark.parametrize("earlier", [0, 1, FEW, FEW + 1, 5 * FEW])
    def test_jobs_sent_in_several_goes_are_counted_right(
        self, store: Store, earlier: int, later: int
    ) -> None:
        jobs = added(store, earlier + later)
        jobs = jobs[::2] + jobs[1::2]  # so that the ids of the two goes lie among each other
        transaction = store.transaction()
        for job in jobs[:earlier]:
            transaction.save_job(apply(job, Cancel(), NOON))
        transaction.send_scheduler_rows()
        for job in jobs[earlier:]:
            transaction.save_job(apply(job, Claim(), NOON))
        add(transaction)

        transaction.finish()

        found = states(store)
        assert (found.count("canceled"), found.count("running")) == (earlier, later)

    def test_a_job_that_was_sent_and_changed_again_is_written_as_it_is_last(
        self, store: Store
    ) -> None:
        (job,) = added(store, 1)
        transaction = store.transaction()
        running = apply(job, Claim(), NOON)
        transaction.save_job(running)
        transaction.send_scheduler_rows()
        transaction.save_job(apply(running, Succeed("1"), NOON))

        transaction.finish()

        assert states(store) == ["succeeded"]

    def test_a_transaction_that_the_database_aborted_does_not_commit(self, store: Store) -> None:
        (job,) = added(store, 1)
        transaction = store.transaction()
        with pytest.raises(duckdb.Error):
            transaction.connection.execute("SELECT * FROM nowhere")
        transaction.save_job(apply(job, Cancel(), NOON))

        with pytest.raises(duckdb.Error):
            transaction.finish()
        transaction.rollback()

        assert states(store) == ["pending"]


class TestLayers:
    def test_a_request_that_is_dropped_leaves_nothing(self, store: Store) -> None:
        transaction = store.transaction()
        transaction.enter()
        add(transaction)
        assert transaction.drop()
        transaction.finish()

        assert states(store) == []

    def test_a_request_sees_what_an_earlier_one_wrote(self, store: Store) -> None:
        transaction = store.transaction()
        transaction.enter()
        job = add(transaction)
        transaction.merge()
        transaction.enter()

        assert transaction.job(job.id) == job
        assert transaction.jobs_where(state="pending") == [job]
        transaction.rollback()

    def test_reading_for_one_request_sends_what_others_owe_and_can_still_be_dropped(
        self, store: Store
    ) -> None:
        transaction = store.transaction()
        transaction.enter()
        add(transaction)
        transaction.merge()
        transaction.enter()
        transaction.jobs_where(state="pending")
        assert transaction.drop()
        transaction.finish()

        assert states(store) == ["pending"]

    def test_a_request_that_was_sent_cannot_be_dropped_alone(self, store: Store) -> None:
        transaction = store.transaction()
        transaction.enter()
        add(transaction)
        transaction.send_scheduler_rows()

        assert not transaction.drop()
        transaction.rollback()

    def test_a_job_made_and_canceled_in_one_request_is_one_row(self, store: Store) -> None:
        transaction = store.transaction()
        transaction.enter()
        transaction.save_job(apply(add(transaction), Cancel(), NOON))
        transaction.merge()
        transaction.finish()

        assert states(store) == ["canceled"]


class TestWitness:
    """A row that exists if and only if the transaction is durable."""

    @pytest.mark.parametrize("kind", ["job", "changed job", "log"])
    def test_it_tells_a_commit_from_a_rollback(self, store: Store, kind: str) -> None:
        (old,) = added(store, 1)
        for is_durable in (False, True):
            transaction = store.transaction()
            if kind == "job":
                add(transaction)
            elif kind == "log":
                transaction.log(entry("f"))
            else:
                transaction.save_job(apply(old, Cancel(), NOON))
            transaction.send_scheduler_rows()
            witness = transaction.witness
            assert witness is not None
            if is_durable:
                transaction.finish()
            else:
                transaction.rollback()

            assert store.was_committed(witness) is is_durable

    def test_without_rows_of_the_schedulers_there_is_none(self, store: Store) -> None:
        transaction = store.transaction()

        assert transaction.witness is None
        transaction.rollback()


class TestIds:
    def test_a_rollback_gives_none_back(self, store: Store) -> None:
        transaction = store.transaction()
        drawn = transaction.draw_job_id()
        transaction.rollback()

        (job,) = added(store, 1)
        assert job.id > drawn

    def test_those_of_a_committed_transaction_lie_below_the_durable_mark(
        self, store: Store
    ) -> None:
        jobs = added(store, 300)

        query = "SELECT reserved FROM _id_blocks WHERE table_name = '_scheduled_jobs'"
        found = store.read(lambda writer: writer.execute(query).fetchone())
        assert found is not None
        assert jobs[-1].id < found[0]

    def test_a_start_goes_on_above_every_id_that_may_have_been_drawn(self, store: Store) -> None:
        jobs = added(store, 3)
        store.read(lambda writer: writer.execute("DELETE FROM _scheduled_jobs"))
        store.close()
        store.open()

        assert added(store, 1)[0].id > jobs[-1].id
