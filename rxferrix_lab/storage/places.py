"""Where names stand in a statement: as a table, or as a call.

An over-approximation from the tokens: after a comma or a bracket a column looks like a table. Reads
no catalog.
"""

from collections.abc import Iterator

from rxferrix_lab.storage.tokens import Kind, Token, has_word_at, name_at, token_at, tokens_of

# After these stands a table; after the others a table or something else.
SURELY_BEFORE_A_TABLE = frozenset(
    {
        *("from", "join", "using", "table", "describe", "desc", "summarize", "show", "pivot"),
        *("pivot_wider", "pivot_longer", "unpivot", "into", "update", "truncate"),
    }
)
_PERHAPS_BEFORE_A_TABLE = frozenset({",", "(", ":"})


def table_places(body: list[Token]) -> Iterator[tuple[Token, list[str]]]:
    """Every name that stands where a table can stand, in its parts, with the token before it."""
    for index, token in enumerate(body):
        is_sure = token.kind is Kind.WORD and token.text in SURELY_BEFORE_A_TABLE
        if is_sure or token.text in _PERHAPS_BEFORE_A_TABLE:
            parts, _ = name_at(body, index + 1)
            if parts:
                yield token, parts


def called_names(body: list[Token]) -> Iterator[tuple[int, str]]:
    """Every name with a bracket after it, in lower case, with its index."""
    for index, token in enumerate(body):
        is_call = token.is_name and token_at(body, index + 1).text == "("
        if is_call and not has_word_at(body, index - 1, "with", "recursive"):
            yield index, token.text.lower()


def names_in(text: str) -> frozenset[str]:
    """The names in ``text`` that may be tables, views or macros, lower case, unqualified.

    Takes a statement, or what the catalog says of a view or a macro.
    """
    body = tokens_of(text)
    tables = {parts[-1].lower() for _, parts in table_places(body)}
    return frozenset(tables | {name for _, name in called_names(body)})
