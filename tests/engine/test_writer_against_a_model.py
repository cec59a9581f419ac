"""Groups of mutations against a model that runs them one by one on a dict.

Each mutation is a list of steps on one table; some fail, by an unknown row, a taken key or of
their own accord. Whatever shares a transaction, the answers and the rows are those of the model. A
key may be taken twice between two steps of a mutation: rows are looked at when they are sent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
from hypothesis import given, settings
from hypothesis import strategies as st

from rxferrix_lab.engine.writer import Answer, Request, Writer
from rxferrix_lab.errors import TableError, UnknownRowError
from rxferrix_lab.storage.store import Store
from rxferrix_lab.storage.transaction import Transaction
from rxferrix_lab.storage.user_tables import UserTables

Table = dict[int, str]  # id to key
ROWS = st.integers(1, 4)
KEYS = st.sampled_from("abcd")


class RefusedError(Exception):
    """What a mutation raises of its own accord, and what the model raises for the database."""


class KeyTakenError(Exception):
    """Two rows have one key at the end of a step."""


@dataclass(frozen=True)
class Step:
    verb: str
    row: int
    key: str

    def on_model(self, table: Table) -> object:
        match self.verb:
            case "raise":
                raise RefusedError
            case "get":
                return table.get(self.row)
            case "count":
                return len(table)
            case "sql_delete":
                return table.pop(self.row, None) is not None
            case "delete":
                if self.row not in table:
                    raise RefusedError
                del table[self.row]
            case _:
                self._write(table)
        return None

    def _write(self, table: Table) -> None:
        is_insert = self.verb in ("insert", "sql_insert")
        if is_insert != (self.row in table):
            table[self.row] = self.key
        elif not self.verb.startswith("sql"):
            raise RefusedError

    def on_tables(self, tables: UserTables) -> object:
        match self.verb:
            case "raise":
                raise RefusedError
            case "get":
                found = tables.get("notes", self.row)
                return found and found["key"]
            case "count":
                return tables.sql("SELECT count(*) FROM notes", {}).scalar()
            case "insert":
                tables.insert("notes", {"id": self.row, "key": self.key})
            case "patch":
                tables.patch("notes", self.row, {"key": self.key})
            case "delete":
                tables.delete("notes", self.row)
            case _:
                return self._by_sql(tables)
        return None

    def _by_sql(self, tables: UserTables) -> object:
        values = {"row": self.row, "key": self.key}
        match self.verb:
            case "sql_insert":
                absent = "NOT EXISTS (SELECT 1 FROM notes WHERE id = $row)"
                tables.sql(f"INSERT INTO notes SELECT $row, $key WHERE {absent}", values)
            case "sql_update":
                tables.sql("UPDATE notes SET key = $key WHERE id = $row", values)
            case _:
                query = "DELETE FROM notes WHERE id = $row"
                return tables.sql(query, {"row": self.row}).rowcount == 1
        return None


VERBS = (
    "insert", "patch", "delete", "get", "count", "raise", "sql_insert", "sql_update", "sql_delete",
)  # fmt: skip
MUTATIONS = st.lists(st.builds(Step, st.sampled_from(VERBS), ROWS, KEYS), max_size=5)


def run_on_model(steps: list[Step], table: Table, *, strict: bool) -> list[object]:
    """What each step gives; the table is changed."""
    found: list[object] = []
    for step in steps:
        found.append(step.on_model(table))
        if strict and len(set(table.values())) < len(table):
            raise KeyTakenError
    return found


def check_one(steps: list[Step], table: Table, answer: object) -> Table:
    """The rows after a mutation, if it answered as it should."""
    for strict in (True, False):
        trial = dict(table)
        try:
            expected = run_on_model(steps, trial, strict=strict)
        except RefusedError:
            break
        except KeyTakenError:
            continue
        if answer == "failed" and not strict:
            return table
        assert answer == expected
        return trial
    assert answer == "failed"
    return table


def run_on_writer(mutations: Sequence[list[Step]]) -> tuple[list[object], Table]:
    """The same, by the writer in one group."""
    answers: list[object] = [None] * len(mutations)

    def request(at: int, steps: list[Step]) -> Request:
        def body(transaction: Transaction) -> object:
            tables = UserTables(transaction)
            return [step.on_tables(tables) for step in steps]

        def done(answer: Answer) -> None:
            expected = (RefusedError, UnknownRowError, TableError, duckdb.ConstraintException)
            assert answer.error is None or isinstance(answer.error, expected), answer.error
            answers[at] = answer.value if answer.error is None else "failed"

        return Request(body, done=done)

    store = Store(":memory:")
    store.open()
    writer = Writer(store, lambda commit: None)
    writer.run([Request(lambda tx: tx.create_table("notes", "key VARCHAR UNIQUE"))])
    writer.run([request(at, steps) for at, steps in enumerate(mutations)])
    with store.snapshot() as snapshot:
        rows = snapshot.sql("SELECT id, key FROM notes", {}).fetchall()
    store.close()
    return answers, dict(rows)


@given(st.lists(MUTATIONS, max_size=6))
@settings(max_examples=60)
def test_whatever_shares_a_transaction_ends_as_if_it_had_run_alone(
    mutations: list[list[Step]],
) -> None:
    answers, rows = run_on_writer(mutations)

    table: Table = {}
    for steps, answer in zip(mutations, answers, strict=True):
        table = check_one(steps, table, answer)
    assert rows == table
    assert len(set(rows.values())) == len(rows)
