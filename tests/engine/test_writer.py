"""Groups of requests: order, atomicity, and what becomes of them when the store fails."""

from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from rxferrix_lab.engine import writer as writers
from rxferrix_lab.engine.writer import Answer, Commit, Request, Unwritable, Writer
from rxferrix_lab.errors import StoreUnavailableError
from rxferrix_lab.storage.transaction import Transaction
from tests.engine.faulty_store import Fault, FaultyStore
from tests.engine.log_rows import entry


class Bench:
    """A writer over a file, and what it told."""

    def __init__(self, store: FaultyStore) -> None:
        self.store = store
        self.commits: list[Commit] = []
        self.answers: list[tuple[str, Answer]] = []
        self.runs: list[str] = []
        self.writer = Writer(store, self.commits.append)

    def logs(self, name: str, *, persists: bool = False) -> Request:
        """A request that adds one row to the execution log and sends no SQL."""

        def body(transaction: Transaction) -> str:
            self.runs.append(name)
            transaction.log(entry(name))
            return name

        return self._request(name, body, persists=persists)

    def inserts(self, name: str) -> Request:
        """A request that sends SQL of its own."""

        def body(transaction: Transaction) -> str:
            self.runs.append(name)
            transaction.connection.execute("INSERT INTO notes VALUES ($name)", {"name": name})
            transaction.layer.was_sent = True
            transaction.log(entry(name))
            return name

        return self._request(name, body)

    def raises(
        self, name: str, error: BaseException, *, after_sql: bool = False, persists: bool = False
    ) -> Request:
        """A request that fails, before or after it sent SQL; its failure is logged."""

        def body(transaction: Transaction) -> str:
            self.runs.append(name)
            if after_sql:
                transaction.connection.execute("INSERT INTO notes VALUES ('torn')")
                transaction.layer.was_sent = True
            raise error

        return self._request(name, body, persists=persists)

    def _request(
        self, name: str, body: Callable[[Transaction], object], *, persists: bool = False
    ) -> Request:
        return Request(
            body,
            failed=lambda transaction, _: transaction.log(entry(f"failed {name}")),
            done=lambda answer: self.answers.append((name, answer)),
            persists=persists,
        )

    def logged(self) -> list[str]:
        """The functions of the execution log, in order."""
        query = "SELECT function FROM _execution_log ORDER BY id"
        rows = self.store.read(lambda connection: connection.execute(query).fetchall())
        return [name for (name,) in rows]

    def notes(self) -> list[str]:
        """The rows that SQL inserted."""
        query = "SELECT text FROM notes ORDER BY rowid"
        rows = self.store.read(lambda connection: connection.execute(query).fetchall())
        return [text for (text,) in rows]

    def outcomes(self) -> list[str]:
        """What the callers were told, in order."""
        return [
            f"{name} {type(answer.error).__name__}" if answer.error else name
            for name, answer in self.answers
        ]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    store = FaultyStore(tmp_path / "app.duckdb")
    store.open()
    store.read(lambda connection: connection.execute("CREATE TABLE notes (text VARCHAR)"))
    yield Bench(store)
    store.close()


class TestGroups:
    def test_requests_that_wait_together_share_one_commit(self, bench: Bench) -> None:
        bench.writer.run([bench.logs("a"), bench.logs("b"), bench.logs("c")])

        assert bench.writer.commits == 1
        assert bench.logged() == ["a", "b", "c"]

    def test_callers_are_answered_after_the_commit(self, bench: Bench) -> None:
        seen: list[list[str]] = []
        request = bench.logs("a")
        request.done = lambda _: seen.append(bench.logged())

        bench.writer.run([request])

        assert seen == [["a"]]

    def test_work_outside_a_transaction_stands_between_two_groups(self, bench: Bench) -> None:
        seen: list[list[str]] = []
        outside = Request(lambda _: None, outside=lambda _: seen.append(bench.logged()))

        bench.writer.run([bench.logs("a"), outside, bench.logs("b")])

        assert seen == [["a"]]
        assert bench.logged() == ["a", "b"]

    def test_a_group_that_takes_too_long_is_committed_before_it_goes_on(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(writers, "LONGEST_GROUP_S", -1.0)

        bench.writer.run([bench.logs("a"), bench.logs("b"), bench.logs("c")])

        assert bench.writer.commits == 3
        assert bench.logged() == ["a", "b", "c"]


class TestFailureBeforeSql:
    def test_it_costs_no_rollback(self, bench: Bench) -> None:
        bench.writer.run([bench.logs("a"), bench.raises("b", ValueError()), bench.logs("c")])

        assert bench.writer.commits == 1
        assert bench.runs == ["a", "b", "c"]

    def test_its_failure_is_recorded_in_its_place(self, bench: Bench) -> None:
        bench.writer.run([bench.logs("a"), bench.raises("b", ValueError()), bench.logs("c")])

        assert bench.logged() == ["a", "failed b", "c"]
        assert bench.outcomes() == ["a", "b ValueError", "c"]


class TestFailureAfterSql:
    def test_nothing_of_it_is_left(self, bench: Bench) -> None:
        failing = bench.raises("b", ValueError(), after_sql=True)

        bench.writer.run([bench.inserts("a"), failing, bench.inserts("c")])

        assert bench.notes() == ["a", "c"]

    def test_the_others_are_run_again_in_order(self, bench: Bench) -> None:
        failing = bench.raises("b", ValueError(), after_sql=True)

        bench.writer.run([bench.inserts("a"), failing, bench.inserts("c")])

        assert bench.logged() == ["a", "failed b", "c"]
        assert bench.outcomes() == ["a", "b ValueError", "c"]

    def test_only_a_verdict_given_alone_counts(self, bench: Bench) -> None:
        failing = bench.raises("b", ValueError(), after_sql=True)

        bench.writer.run([bench.inserts("a"), failing])

        assert bench.runs == ["a", "b", "a", "b"]

    def test_a_request_that_fails_in_company_only_succeeds_alone(self, bench: Bench) -> None:
        tries: list[int] = []

        def body(transaction: Transaction) -> None:
            tries.append(1)
            transaction.layer.was_sent = True
            if len(tries) == 1:
                raise ValueError
            transaction.log(entry("b"))

        bench.writer.run([bench.logs("a"), Request(body), bench.logs("c")])

        assert bench.logged() == ["a", "b", "c"]

    def test_the_next_groups_are_smaller_for_a_while(self, bench: Bench) -> None:
        before = bench.writer.group_limit
        failing = bench.raises("b", ValueError(), after_sql=True)

        bench.writer.run([bench.logs("a"), failing])
        after = bench.writer.group_limit
        bench.writer.run([bench.logs("c")])

        assert after < before
        assert bench.writer.group_limit > after

    def test_a_database_error_that_a_body_swallowed_fails_it(self, bench: Bench) -> None:
        def body(transaction: Transaction) -> None:
            try:
                transaction.connection.execute("SELECT * FROM nowhere")
            except duckdb.CatalogException as error:
                transaction.layer.broken = error

        request = Request(body, done=lambda answer: bench.answers.append(("b", answer)))
        bench.writer.run([bench.logs("a"), request, bench.logs("c")])

        assert bench.outcomes() == ["a", "b CatalogException", "c"]
        assert bench.logged() == ["a", "c"]

    def test_a_row_that_does_not_fit_fails_only_its_owner(self, bench: Bench) -> None:
        def too_long(transaction: Transaction) -> None:
            transaction.log(entry("x", attempt=2**40))

        owner = Request(too_long, done=lambda answer: bench.answers.append(("x", answer)))
        bench.writer.run([bench.logs("a"), bench.logs("b"), owner, bench.logs("c")])

        assert bench.logged() == ["a", "b", "c"]
        assert [name for name, answer in bench.answers if answer.error] == ["x"]

    def test_memory_used_up_by_one_body_fails_that_one(self, bench: Bench) -> None:
        greedy = bench.raises("b", duckdb.OutOfMemoryException("too much"), persists=True)

        bench.writer.run([bench.logs("a"), greedy, bench.logs("c")])

        assert bench.logged() == ["a", "failed b", "c"]


class TestFullDisk:
    def test_callers_are_told_at_once(self, bench: Bench) -> None:
        bench.store.fail(Fault.DISK_FULL)

        with pytest.raises(Unwritable):
            bench.writer.run([bench.logs("a"), bench.logs("b")])

        assert bench.outcomes() == ["a StoreUnavailableError", "b StoreUnavailableError"]

    def test_what_is_the_schedulers_own_is_handed_back_in_order(self, bench: Bench) -> None:
        bench.store.fail(Fault.DISK_FULL)
        own = [bench.logs("a", persists=True), bench.logs("b", persists=True)]

        with pytest.raises(Unwritable) as caught:
            bench.writer.run([own[0], bench.logs("x"), own[1]])

        assert caught.value.waiting == own

    def test_nothing_is_lost_or_doubled_when_it_is_tried_again(self, bench: Bench) -> None:
        bench.store.fail(Fault.DISK_FULL, Fault.DISK_FULL)
        own = [bench.logs("a", persists=True), bench.logs("b", persists=True)]

        for _ in range(2):
            with pytest.raises(Unwritable) as caught:
                bench.writer.run(own)
            own = caught.value.waiting
        bench.writer.run(own)

        assert bench.logged() == ["a", "b"]
        assert bench.outcomes() == ["a", "b"]


class TestLostInstance:
    def test_a_group_that_was_not_durable_is_run_again(self, bench: Bench) -> None:
        bench.store.fail(Fault.LOST_BEFORE)

        bench.writer.run([bench.inserts("a"), bench.logs("b")])

        assert bench.logged() == ["a", "b"]
        assert bench.notes() == ["a"]
        assert bench.writer.reopens == 1

    def test_a_group_that_was_durable_is_not_run_again(self, bench: Bench) -> None:
        bench.store.fail(Fault.LOST_AFTER)

        bench.writer.run([bench.inserts("a"), bench.logs("b")])

        assert bench.runs == ["a", "b"]
        assert bench.logged() == ["a", "b"]
        assert bench.notes() == ["a"]

    def test_a_group_that_was_durable_is_answered_and_published(self, bench: Bench) -> None:
        bench.store.fail(Fault.LOST_AFTER)

        bench.writer.run([bench.logs("a"), bench.logs("b")])

        assert bench.outcomes() == ["a", "b"]
        assert [commit.change.tables for commit in bench.commits] == [frozenset({"*"})]

    @pytest.mark.parametrize("fault", [Fault.LOST_BEFORE, Fault.LOST_AFTER])
    def test_ids_are_not_drawn_twice_across_it(self, bench: Bench, fault: Fault) -> None:
        bench.store.fail(Fault.NONE, fault)

        for name in "abc":
            bench.writer.run([bench.logs(name)])

        query = "SELECT count(*) - count(DISTINCT id) FROM _execution_log"
        found = bench.store.read(lambda connection: connection.execute(query).fetchone())
        assert found == (0,)
        assert bench.logged() == ["a", "b", "c"]

    @pytest.mark.parametrize(
        ("fault", "runs"), [(Fault.LOST_BEFORE, ["a", "a"]), (Fault.LOST_AFTER, ["a"])]
    )
    def test_a_doubt_that_outlives_the_reopen_is_settled_later(
        self, bench: Bench, fault: Fault, runs: list[str]
    ) -> None:
        bench.store.fail(fault)
        bench.store.failing_reopens = 1

        with pytest.raises(Unwritable) as caught:
            bench.writer.run([bench.logs("a")])
        told_before = bench.outcomes()
        bench.writer.run(caught.value.waiting)

        assert told_before == []
        assert bench.runs == runs
        assert bench.logged() == ["a"]
        assert bench.outcomes() == ["a"]

    def test_a_store_that_is_lost_again_and_again_is_given_up_for_now(self, bench: Bench) -> None:
        bench.store.fail(*[Fault.LOST_BEFORE] * (writers.MOST_REOPENS + 1))
        own = bench.logs("a", persists=True)

        with pytest.raises(Unwritable) as caught:
            bench.writer.run([own, bench.logs("x")])
        bench.writer.run(caught.value.waiting)

        assert caught.value.waiting == [own]
        assert bench.logged() == ["a"]

    def test_a_body_that_loses_the_instance_each_time_fails_and_holds_nothing_up(
        self, bench: Bench
    ) -> None:
        crash = duckdb.InternalException("an assertion of the database failed")

        bench.writer.run(
            [bench.logs("a"), bench.raises("b", crash, persists=True), bench.logs("c")]
        )

        assert bench.logged() == ["a", "failed b", "c"]
        assert bench.outcomes() == ["a", "b InternalException", "c"]


class TestAfterTheCommit:
    def test_a_fault_of_whoever_is_told_never_runs_the_group_again(self, bench: Bench) -> None:
        def broken(_: Commit) -> None:
            raise duckdb.FatalException("not the store's")

        writer = Writer(bench.store, broken)

        with pytest.raises(duckdb.FatalException):
            writer.run([bench.logs("a")])

        assert bench.runs == ["a"]
        assert bench.logged() == ["a"]


class TestRecords:
    def test_a_failure_that_cannot_be_recorded_holds_nothing_up(self, bench: Bench) -> None:
        def unrecordable(transaction: Transaction, _: BaseException) -> None:
            transaction.layer.was_sent = True
            raise ValueError("no record either")

        request = bench.raises("b", KeyError(), after_sql=True)
        request.failed = unrecordable

        bench.writer.run([bench.logs("a"), request, bench.logs("c")])

        assert bench.logged() == ["a", "c"]
        assert bench.outcomes() == ["a", "b KeyError", "c"]

    def test_callers_learn_that_nothing_was_changed(self, bench: Bench) -> None:
        bench.store.fail(Fault.DISK_FULL)

        with pytest.raises(Unwritable):
            bench.writer.run([bench.logs("a")])

        error = bench.answers[0][1].error
        assert isinstance(error, StoreUnavailableError)
        assert "nothing was changed" in str(error)
