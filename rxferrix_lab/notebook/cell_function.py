"""A cell's text becomes a function: its first line is the signature, its body the function's body.

`send(to: str) -> str --pool emails` and the lines below it are read as Python, so what Python
allows in a signature is allowed here. `ctx` is in scope, and so are the notebook's names.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from rxferrix_lab.errors import FunctionDefinitionError

_NAME = re.compile(r"[A-Za-z_]\w*")
_OPTIONS = re.compile(r"(?:^|(?<=\s))--")


class SourceCache(Protocol):
    """Keeps a source under a file name, so that tracebacks can show its lines."""

    def __call__(self, transformed_code: str, number: int = 0) -> str:
        """The file name."""
        ...


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a cell.

    Attributes:
        name: of the function.
        signature: as it is written behind `def`.
        options: what follows it, from the first `--`.
    """

    name: str
    signature: str
    options: str


def read_header(line: str, kind: str) -> Header:
    """Take the first line of a cell apart.

    Raises:
        FunctionDefinitionError: unless it begins with a name, or a signature.
    """
    found = _NAME.match(line.strip())
    if found is None:
        raise FunctionDefinitionError(
            f"%%{kind}", f"the cell's first line names the function: %%{kind} send(to: str) -> str"
        )
    name, problem = found.group(), ""
    for end in [*(match.start() for match in _OPTIONS.finditer(line)), len(line)]:
        written = line[:end].strip()
        signature = written if "(" in written else written.replace(name, f"{name}()", 1)
        try:
            ast.parse(f"def {signature}: pass")
        except SyntaxError as error:
            problem = error.msg
            continue
        return Header(name, signature, line[end:].strip())
    raise FunctionDefinitionError(name, f"its signature cannot be read ({problem}): {line.strip()}")


def build_function(
    header: Header, kind: str, body: str, namespace: dict[str, Any], cache: SourceCache
) -> Callable[..., Any]:
    """Compile the cell as `def name(ctx, …)`; an action that awaits becomes an `async def`.

    Raises:
        FunctionDefinitionError: for a body that awaits in a transaction, or an empty one.
        SyntaxError: for a body that is not Python.
    """
    source = f"# %%{kind} {header.signature}\n{body}"
    file_name = cache(source)
    statements = ast.parse(source, file_name).body
    if not statements:
        raise FunctionDefinitionError(header.name, "the cell has no body below its first line")
    is_async = any(_awaits(statement) for statement in statements)
    if is_async and kind != "action":
        raise FunctionDefinitionError(
            header.name, f"a {kind} cannot await, because a transaction cannot; use %%action"
        )
    definition = _definition(header, is_async=is_async)
    definition.body = statements
    module = ast.fix_missing_locations(ast.Module([definition], []))
    found: dict[str, Any] = {}
    # The notebook's own namespace is the function's, so that later cells are seen too.
    code = compile(module, file_name, "exec", dont_inherit=True)
    exec(code, namespace, found)  # the user's own cell
    function: Callable[..., Any] = found[header.name]
    function.__module__ = "__main__"
    return function


def _definition(header: Header, *, is_async: bool) -> ast.FunctionDef | ast.AsyncFunctionDef:
    word = "async def" if is_async else "def"
    definition = ast.parse(f"{word} {header.signature}: pass").body[0]
    if not isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef):
        raise FunctionDefinitionError(header.name, "its first line is not a signature")
    arguments = definition.args
    first = [*arguments.posonlyargs, *arguments.args][:1]
    if not first or first[0].arg != "ctx":
        taken = arguments.posonlyargs or arguments.args
        taken.insert(0, ast.arg("ctx"))
    return definition


class _Awaits(ast.NodeVisitor):
    """Looks for an await that belongs to the body itself, not to a function inside it."""

    def __init__(self) -> None:
        self.found = False

    def generic_visit(self, node: ast.AST) -> None:
        """Look below, but not into functions."""
        if isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith):
            self.found = True
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        is_async_loop = isinstance(node, ast.comprehension) and node.is_async
        self.found = self.found or bool(is_async_loop)
        if not is_function:
            super().generic_visit(node)


def _awaits(statement: ast.stmt) -> bool:
    look = _Awaits()
    look.visit(statement)
    return look.found
