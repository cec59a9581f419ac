"""What CREATE, DROP and ALTER define, change or refer to.

Reads tokens only. Knows which kinds of objects a function may define, and nothing of what tables
hold.
"""

from collections.abc import Iterator

from rxferrix_lab.errors import ForbiddenStatementError
from rxferrix_lab.storage.tokens import END, Kind, Token, name_at

Target = tuple[int, list[str]]  # where the name begins, and its parts

_OBJECTS = frozenset({"table", "view", "index", "sequence", "type", "macro", "function", "schema"})
_MODIFIERS = frozenset({"or", "replace", "unique", "recursive"})
_TEMPORARY = frozenset({"temp", "temporary"})
_ALTERABLE = frozenset({"table", "view", "sequence"})


def defined_names(sql: str, body: list[Token]) -> list[Target]:
    """The names that a CREATE, DROP or ALTER defines, drops, changes, or makes depend on it.

    Raises:
        ForbiddenStatementError: if it defines or drops another kind of object, or the schema main.
    """
    verb = _word(body, 0)
    index = 1
    while verb == "create" and _word(body, index) in _MODIFIERS:
        index += 1
    _refuse_temporary(sql, body, index)
    what = _word(body, index)
    if what not in (_ALTERABLE if verb == "alter" else _OBJECTS):
        raise ForbiddenStatementError(
            sql,
            f"{verb.upper()} {what.upper()} may not run in a function; it takes tables, views, "
            "indexes, sequences, types, macros and schemas",
        )
    index += 1
    if verb == "drop" and what in {"macro", "function"} and _word(body, index) == "table":
        index += 1
    while _word(body, index) in {"if", "not", "exists"}:
        index += 1
    parts, after = name_at(body, index)
    if what == "schema":
        _refuse_main(sql, body, parts)
        return [(index, parts or [""])]
    found = [(index, parts or [""])]
    if what == "index" and verb == "create":
        on = next((i for i in range(after, len(body)) if _word(body, i) == "on"), after)
        at = on + 1
        found.append((at, name_at(body, at)[0] or [""]))
    return found + list(_mentioned(body, after))


def defined_macro(body: list[Token]) -> str | None:
    """The name, in lower case, of the macro that a CREATE defines; None where it defines none."""
    if _word(body, 0) != "create":
        return None
    index = 1
    while _word(body, index) in _MODIFIERS:
        index += 1
    if _word(body, index) not in {"macro", "function"}:
        return None
    index += 1
    while _word(body, index) in {"if", "not", "exists"}:
        index += 1
    parts, _ = name_at(body, index)
    return parts[-1].lower() if parts else None


def _refuse_temporary(sql: str, body: list[Token], index: int) -> None:
    """A temporary object hides the real one of its name from the writer, and its rows are lost."""
    if _word(body, 0) == "create" and _word(body, index) in _TEMPORARY:
        raise ForbiddenStatementError(
            sql,
            "temporary objects may not be made: they hide real ones of the same name, and what is "
            "written to them is gone at the next start; leave out TEMP and drop it when done",
        )


def _refuse_main(sql: str, body: list[Token], parts: list[str]) -> None:
    is_kept = _word(body, 0) == "create" and _word(body, 1) != "or"
    if not is_kept and parts and parts[-1].lower() == "main":
        raise ForbiddenStatementError(
            sql, 'the schema "main" holds the scheduler\'s tables and stays'
        )


def _mentioned(body: list[Token], start: int) -> Iterator[Target]:
    """The new name of a rename, the owner of a sequence, and the table of each foreign key.

    A foreign key to a table of the scheduler would block the scheduler's deletes.
    """
    for index in range(start, len(body)):
        word, following = _word(body, index), _word(body, index + 1)
        at = index + 2
        if word == "references":
            at = index + 1
        elif (word, following) not in {("rename", "to"), ("owned", "by")}:
            continue
        parts, _ = name_at(body, at)
        if parts and _is_object(word, parts):
            yield at, parts


def _is_object(word: str, parts: list[str]) -> bool:
    return not (word == "owned" and parts == ["none"])


def _word(body: list[Token], index: int) -> str:
    token = body[index] if 0 <= index < len(body) else END
    return token.text if token.kind is Kind.WORD else ""
