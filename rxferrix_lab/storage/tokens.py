"""SQL cut into tokens, the way DuckDB's own parser cuts it.

Answers for where a word begins and ends, and nothing about what it means. The cutting is
``duckdb.tokenize``; text that the parser would cut otherwise (Unicode spaces outside quotes) is
refused here.
"""

import re
from enum import Enum
from typing import NamedTuple

import duckdb

from rxferrix_lab.errors import ForbiddenStatementError


class Kind(Enum):
    """What a token is, as far as names are concerned."""

    WORD = "word"  # a keyword or a name without quotes
    QUOTED = "quoted"  # a name in double quotes
    STRING = "string"
    OTHER = "other"  # an operator, a bracket, a number


class Token(NamedTuple):
    """One token.

    Attributes:
        kind: what it is.
        text: a word in lower case, a quoted name or plain string without its quotes, else as
            written.
        at: where it begins, in bytes.
    """

    kind: Kind
    text: str
    at: int

    @property
    def is_name(self) -> bool:
        """Whether it can be part of a name."""
        return self.kind is Kind.WORD or self.kind is Kind.QUOTED


END = Token(Kind.OTHER, "", -1)

_WHITESPACE = " \t\n\r\v\f"
_PLAIN_WORD = re.compile(r"\w+")
_IS_WORD = (duckdb.token_type.keyword, duckdb.token_type.identifier)


def tokens_of(sql: str) -> list[Token]:
    """The tokens of ``sql`` without comments and without semicolons at its end.

    Raises:
        ForbiddenStatementError: if a character outside quotes is no part of any token, such as a
            non-breaking space, or the text holds a NUL.
    """
    if "\0" in sql:
        raise ForbiddenStatementError(sql, "SQL may not hold a NUL character")
    data = sql.encode()
    starts = duckdb.tokenize(sql)
    tokens: list[Token] = []
    end = len(data)
    for at, kind in reversed(starts):
        if kind is not duckdb.token_type.comment:
            text = data[at:end].decode().rstrip(_WHITESPACE)
            tokens.append(_token(sql, text, kind, at))
        end = at
    tokens.reverse()
    while tokens and tokens[-1].text == ";" and tokens[-1].kind is Kind.OTHER:
        tokens.pop()
    return tokens


def name_at(tokens: list[Token], index: int) -> tuple[list[str], int]:
    """The parts of the dotted name at ``index``, and the index after it; no parts if none."""
    parts: list[str] = []
    while index < len(tokens) and (tokens[index].is_name or tokens[index].kind is Kind.STRING):
        parts.append(tokens[index].text)
        index += 1
        if (
            index >= len(tokens)
            or tokens[index].text != "."
            or tokens[index].kind is not Kind.OTHER
        ):
            break
        index += 1
    return parts, index


def token_at(tokens: list[Token], index: int) -> Token:
    """The token at ``index``, or `END` outside the list."""
    return tokens[index] if 0 <= index < len(tokens) else END


def is_word(token: Token, *words: str) -> bool:
    """Whether the token is one of ``words``, without quotes."""
    return token.kind is Kind.WORD and token.text in words


def has_word_at(tokens: list[Token], index: int, *words: str) -> bool:
    """Whether one of ``words`` stands at ``index``, without quotes."""
    return is_word(token_at(tokens, index), *words)


def _token(sql: str, text: str, kind: duckdb.token_type, at: int) -> Token:
    if text.startswith('"'):
        return Token(Kind.QUOTED, text[1:-1].replace('""', '"'), at)
    if kind is duckdb.token_type.string_const:
        plain = text[1:-1].replace("''", "'") if text.startswith("'") else text
        return Token(Kind.STRING, plain, at)
    is_word = kind in _IS_WORD
    if not text.isascii() and not (is_word and _PLAIN_WORD.fullmatch(text)):
        raise ForbiddenStatementError(
            sql,
            f"{text!r} holds a space or a sign that is not plain ASCII outside quotes; type a "
            "plain space, or put the name in double quotes",
        )
    return Token(Kind.WORD, text.lower(), at) if is_word else Token(Kind.OTHER, text, at)
