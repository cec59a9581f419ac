"""What a statement of user SQL is, and whether it may run.

Answers from the text alone, before anything is sent, and refuses all that the contract (1.6) does
not name. Where a text could be read two ways it is read as the dangerous one. This hardens user
SQL; it is not a sandbox.
"""

from dataclasses import dataclass
from typing import Literal

import duckdb

from rxferrix_lab.domain.given import checked_text
from rxferrix_lab.errors import ForbiddenStatementError, ReservedTableError
from rxferrix_lab.storage.definitions import Target, defined_macro, defined_names
from rxferrix_lab.storage.lineage import tables_behind
from rxferrix_lab.storage.places import called_names, table_places
from rxferrix_lab.storage.sql_files import refuse_files
from rxferrix_lab.storage.sql_functions import is_built_in, is_forbidden_call
from rxferrix_lab.storage.targets import written_names
from rxferrix_lab.storage.tokens import Token, has_word_at, is_word, token_at, tokens_of

StatementKind = Literal["read", "write", "ddl"]


@dataclass(frozen=True, slots=True)
class Statement:
    """What one statement does.

    Attributes:
        kind: read, write, or ddl. An EXPLAIN has the kind of what it explains.
        writes: the tables it changes, and what else it defines, lower case, unqualified.
        reads: the names that stand where a table can stand, lower case, unqualified: all tables and
            views it reads, and perhaps others. None where it calls what may be a macro.
        params: the names of its parameters, without the dollar; numbers for positional ones.
    """

    kind: StatementKind
    writes: frozenset[str]
    reads: frozenset[str] | None
    params: frozenset[str]


def inspect(sql: str, connection: duckdb.DuckDBPyConnection) -> Statement:
    """What ``sql`` does, for a mutation. Parses only; the connection's transaction stays as it is.

    Raises:
        ForbiddenStatementError: if it is not one statement of the permitted kinds, or reads files.
        ReservedTableError: if it writes, makes, changes or refers to a name that begins with "_".
        duckdb.ParserException: if it is no SQL.
    """
    known = _cache.get(sql)
    if known is None:
        known = _inspected(sql, connection)
        _cache.put(sql, known)
    return known


def inspect_query(sql: str, connection: duckdb.DuckDBPyConnection) -> Statement:
    """What ``sql`` does, for a query: as `inspect`, and refuses all that is not a read.

    Raises:
        ForbiddenStatementError: also if it writes.
    """
    statement = inspect(sql, connection)
    if statement.kind != "read":
        raise ForbiddenStatementError(sql, "a query may only read; write in a mutation")
    return statement


def table_names(sql: str, connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    """The existing tables that ``sql`` may read, lower case, views and macros followed.

    Raises:
        ForbiddenStatementError: as `inspect`.
        ReservedTableError: as `inspect`.
    """
    inspect(sql, connection)
    return tables_behind(sql, connection)


class _Cache:
    """The last statements by text, in two generations: a hit is one look-up, without reordering."""

    def __init__(self, generation: int) -> None:
        self._generation = generation
        self._young: dict[str, Statement] = {}
        self._old: dict[str, Statement] = {}

    def get(self, sql: str) -> Statement | None:
        found = self._young.get(sql)
        if found is None and (found := self._old.get(sql)) is not None:
            self.put(sql, found)
        return found

    def put(self, sql: str, statement: Statement) -> None:
        if len(sql) > 10_000:
            return
        if len(self._young) >= self._generation:
            self._old, self._young = self._young, {}
        self._young[sql] = statement


_cache = _Cache(
    1_000
)  # owner: inspect. A Statement depends on the text alone; threads may share it.

_KINDS: dict[str, StatementKind] = {
    "SELECT": "read",
    "INSERT": "write",
    "UPDATE": "write",
    "DELETE": "write",
    "MERGE_INTO": "write",
    "CREATE": "ddl",
    "DROP": "ddl",
    "ALTER": "ddl",
}

_ALLOWED = (
    "only SELECT, INSERT, UPDATE, DELETE, MERGE, CREATE, DROP and ALTER of tables, views, indexes, "
    "sequences, types, macros and schemas, and EXPLAIN of these may"
)


def _inspected(sql: str, connection: duckdb.DuckDBPyConnection) -> Statement:
    parsed = _parsed(sql, connection)
    tokens = tokens_of(sql)
    body, is_executed = _without_explain(tokens)
    explained = parsed
    if body is not tokens and body:
        explained = _parsed(sql.encode()[body[0].at :].decode(), connection)
    kind = _kind(sql, explained, body)
    targets = _targets(sql, body, kind)
    _refuse_reserved(body, targets)
    _refuse_built_in(sql, body, connection)
    calls = _calls(sql, body, targets, connection)
    refuse_files(sql, body, connection)
    if kind == "read" and (targets or not calls.isdisjoint({"nextval", "setval"})):
        kind = "write"
    has_macros = any(not is_built_in(name, connection) for name in calls)
    reads = frozenset(parts[-1].lower() for _, parts in table_places(body))
    return Statement(
        kind=kind,
        writes=frozenset(parts[-1].lower() for _, parts in targets if is_executed),
        reads=None if has_macros else reads,
        params=frozenset(str(name) for name in parsed.named_parameters),
    )


def _refuse_built_in(sql: str, body: list[Token], connection: duckdb.DuckDBPyConnection) -> None:
    """A macro of a built-in function's name would change what the scheduler's own SQL means."""
    macro = defined_macro(body)
    if macro is not None and is_built_in(macro, connection):
        raise ForbiddenStatementError(
            sql, f'"{macro}" is a function of DuckDB\'s own; give the macro another name'
        )


def _parsed(sql: str, connection: duckdb.DuckDBPyConnection) -> duckdb.Statement:
    statements = connection.extract_statements(checked_text(sql, "a statement"))
    if len(statements) != 1:
        raise ForbiddenStatementError(
            sql, f"sql takes exactly one statement, and this is {len(statements)}"
        )
    return statements[0]


def _without_explain(tokens: list[Token]) -> tuple[list[Token], bool]:
    """The explained statement, and whether it is executed; the same list without EXPLAIN."""
    if not has_word_at(tokens, 0, "explain"):
        return tokens, True
    index, is_executed = 1, False
    if has_word_at(tokens, index, "analyze"):
        index, is_executed = index + 1, True
    has_options = has_word_at(tokens, index + 1, "analyze", "format")
    if token_at(tokens, index).text == "(" and has_options:
        while index < len(tokens) and tokens[index].text != ")":
            is_executed |= has_word_at(tokens, index, "analyze")
            index += 1
        index += 1
    return tokens[index:], is_executed


def _kind(sql: str, parsed: duckdb.Statement, body: list[Token]) -> StatementKind:
    name = _type_name(parsed)
    if name == "MULTI" and _has_pivot(body):
        # A PIVOT over the values found in the data is sent as several statements.
        name = "CREATE" if has_word_at(body, 0, "create") else "SELECT"
    kind = _KINDS.get(name)
    # COMMENT ON parses as ALTER, and DEALLOCATE as DROP.
    if kind is None or (kind == "ddl" and not has_word_at(body, 0, name.lower())):
        word = body[0].text.upper() if body else "an empty statement"
        raise ForbiddenStatementError(sql, f"{word} may not run in a function; {_ALLOWED}")
    return kind


def _type_name(parsed: duckdb.Statement) -> str:
    try:
        return parsed.type.name
    except ValueError:
        # A type that the Python enum lacks: UPDATE EXTENSIONS, CONNECT, CREATE EXTERNAL RESOURCE.
        return "UNKNOWN"


def _has_pivot(body: list[Token]) -> bool:
    return any(is_word(token, "pivot", "pivot_wider") for token in body)


def _targets(sql: str, body: list[Token], kind: StatementKind) -> list[Target]:
    """Every name that is written, made, changed, dropped, or referred to by a foreign key."""
    written = list(written_names(sql, body))
    if kind == "ddl":
        if written and any(has_word_at(body, i, "view", "macro", "function") for i in range(5)):
            raise ForbiddenStatementError(sql, "a view or a macro may only read")
        return written + defined_names(sql, body)
    if kind == "write" and not written:
        raise ForbiddenStatementError(sql, "the table that this writes cannot be recognised")
    return written


def _refuse_reserved(body: list[Token], targets: list[Target]) -> None:
    for _, parts in targets:
        for part in parts:
            if part.startswith("_"):
                raise ReservedTableError(part)
    for index, token in enumerate(body):
        if token.is_name and token.text.startswith("_") and _names_cte(body, index):
            raise ReservedTableError(token.text)


def _names_cte(body: list[Token], index: int) -> bool:
    before, after = token_at(body, index - 1), index + 1
    if is_word(before, "with", "recursive"):
        return True
    if before.text != "," or not has_word_at(body, after, "as"):
        return False
    while has_word_at(body, after, "as", "not", "materialized"):
        after += 1
    # A named window looks the same up to here: WINDOW a AS (…), _b AS (ORDER BY …).
    return token_at(body, after).text == "(" and has_word_at(body, after + 1, *_CTE_STARTS)


_CTE_STARTS = ("select", "from", "with", "values", "insert", "update", "delete", "table")


def _calls(
    sql: str, body: list[Token], targets: list[Target], connection: duckdb.DuckDBPyConnection
) -> frozenset[str]:
    """What is called, in lower case.

    Raises:
        ForbiddenStatementError: if one of them may not be called.
    """
    # In INSERT INTO t (a) and CREATE TABLE t (a) the last part of the target is no call.
    defined = {at + 2 * len(parts) - 2 for at, parts in targets}
    calls = frozenset(name for at, name in called_names(body) if at not in defined)
    for name in calls:
        if is_forbidden_call(name, connection):
            raise ForbiddenStatementError(
                sql,
                f"{name}() reads files, evaluates text, waits, or changes the database's settings, "
                "and a function may not call it",
            )
    return calls
