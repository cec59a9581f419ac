"""What a statement writes.

DuckDB tells the type of a statement but not its target, and it takes INSERT, UPDATE and DELETE
inside the CTEs of what it calls a SELECT. So the targets are read from the tokens, at any depth.
Where a word could be a verb or a column it is taken for the verb.
"""

from collections.abc import Iterator

from rxferrix_lab.errors import ForbiddenStatementError
from rxferrix_lab.storage.definitions import Target
from rxferrix_lab.storage.tokens import Kind, Token, has_word_at, is_word, name_at, token_at

_VERBS = frozenset({"into", "update", "delete", "truncate", "copy"})


def written_names(sql: str, body: list[Token]) -> Iterator[Target]:
    """The targets of every INSERT, UPDATE, DELETE, MERGE and TRUNCATE.

    Raises:
        ForbiddenStatementError: if there is a COPY, which may stand in a CTE as well.
    """
    for index, token in enumerate(body):
        if token.kind is Kind.WORD and token.text in _VERBS:
            at = _target_index(sql, body, index)
            parts = [] if at is None else name_at(body, at)[0]
            if at is not None and parts and not has_word_at(body, at, "set", "from", "as"):
                yield at, parts


def _target_index(sql: str, body: list[Token], index: int) -> int | None:
    """Where the target of the verb at ``index`` would stand; None where the word is no verb."""
    before = token_at(body, index - 1)
    match body[index].text:
        case "into":
            return None if _is_unpivot(body, index) else index + 1
        case "update":
            return None if is_word(before, "do", "then", "for", "on") else index + 1
        case "delete":
            is_verb = has_word_at(body, index + 1, "from") and not _is_column(before)
            return index + 2 if is_verb else None
        case "truncate" if _begins(before, index):
            return index + (2 if has_word_at(body, index + 1, "table") else 1)
        case "copy" if _begins(before, index):
            raise ForbiddenStatementError(sql, "COPY may not run in a function")
        case _:
            return None


def _begins(before: Token, index: int) -> bool:
    """Whether a verb may stand here: at the start, or in the body of a CTE."""
    return index == 0 or before.text in {"(", ")"}


def _is_column(before: Token) -> bool:
    """Whether DELETE is a column after this token, as in ``SELECT a, delete FROM t``."""
    return before.text in {",", "."} or is_word(before, "select", "distinct", "as")


def _is_unpivot(body: list[Token], index: int) -> bool:
    """Whether this INTO belongs to ``UNPIVOT … INTO NAME … VALUE …``."""
    if has_word_at(body, index - 1, "insert", "replace", "ignore", "merge"):
        return False
    return has_word_at(body, index + 1, "name") and any(
        has_word_at(body, earlier, "unpivot") for earlier in range(index)
    )
