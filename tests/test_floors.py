"""The floors of the package hold: who may import whom, and what may be written where.

The rules are a table and a few checks over the syntax tree. Each check is shown to refuse a planted
violation, so that one that stopped seeing would be noticed.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

import pytest

PACKAGE = "rxferrix_lab"
CHECKOUT = Path(__file__).resolve().parent.parent
LONGEST_FILE = 400


@dataclass(frozen=True, slots=True)
class Floor:
    """What one floor may import, besides the standard library and itself."""

    below: frozenset[str]
    parties: frozenset[str]
    lazily: frozenset[str]  # only inside a function or under TYPE_CHECKING
    never: frozenset[str]  # of the standard library


def floor(below: str = "", *, parties: str = "", lazily: str = "", never: str = "") -> Floor:
    return Floor(*(frozenset(names.split()) for names in (below, parties, lazily, never)))


# From the ground up. `app/` alone looks up, and only lazily: its face hands out the live objects
# and what shows itself in a cell, and an app that asks for none of them must not load param.
FLOORS = {
    "errors": floor(),
    "domain": floor("errors", parties="croniter tzdata", never="asyncio time threading sqlite3"),
    "storage": floor(
        "errors domain", parties="duckdb", lazily="pandas pyarrow", never="asyncio time"
    ),
    # An event loop is asked what its tasks wait for, inside functions of quiescence.py.
    "engine": floor(
        "errors domain storage", parties="anyio", lazily="asyncio trio", never="asyncio"
    ),
    "app": floor(
        "errors domain storage engine",
        parties="anyio msgspec",
        lazily="reactive notebook pandas",
    ),
    "testing": floor("errors domain storage engine app", parties="anyio msgspec", lazily="pandas"),
    "simulate": floor(
        "errors domain storage engine app testing", parties="anyio msgspec", lazily="pandas"
    ),
    "reactive": floor("errors domain storage engine app testing simulate", parties="param pandas"),
    "views": floor(
        "errors domain app testing simulate reactive",
        parties="panel panel_material_ui bokeh param",
        lazily="pandas",
        never="asyncio time",
    ),
    "notebook": floor(
        "errors domain app testing simulate reactive views",
        parties="IPython panel",
        lazily="pandas",
    ),
    "__init__": floor(
        "errors domain storage engine app testing simulate",
        lazily="reactive views notebook IPython pandas",
    ),
}
EVERYWHERE = frozenset({"typing_extensions"})

NAMES_THAT_GATHER = {"util", "utils", "helper", "helpers", "common", "base", "core", "misc"} | {
    *("types", "models", "constants", "manager", "service")
}
SQL = re.compile(
    r"^\s*(SELECT|WITH|INSERT\s+INTO|UPDATE|DELETE\s+FROM|MERGE\s+INTO|(CREATE|ALTER|DROP)\s+\w+"
    r"|CHECKPOINT|COPY|ATTACH|PRAGMA|BEGIN\s+TRANSACTION)\s+\S"
    r"|\b(FROM|INTO|UPDATE|JOIN|TABLE)\s+_[a-z]",
    re.MULTILINE,
)
CLOCK_READS = frozenset({"now", "utcnow", "today", "localtime", "monotonic", "perf_counter"})

Check = Callable[[PurePath, ast.Module], Iterator[str]]


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module, and whether importing the file that names it imports it too."""

    module: str
    line: int
    is_lazy: bool


def floor_of(path: PurePath) -> str:
    """The floor that a file of the package is on; `path` is relative to the package."""
    return path.parts[0].removesuffix(".py")


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING")


def imports(node: ast.AST, *, is_lazy: bool = False) -> Iterator[Import]:
    """Every import below a node, also inside functions and under TYPE_CHECKING."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, is_lazy) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            origin = "." * child.level + (child.module or "")
            names = [f"{origin}.{alias.name}" for alias in child.names]
            modules = names if origin == PACKAGE else [origin]
            yield from (Import(module, child.lineno, is_lazy) for module in modules)
        else:
            lazy_here = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            lazily = is_lazy or lazy_here or is_type_checking(child)
            yield from imports(child, is_lazy=lazily)


def name_on_a_floor(module: str) -> str:
    """The table's name for a module: one of our floors, or the top name of another's package."""
    top, _, rest = module.partition(".")
    if top != PACKAGE:
        return top
    name = rest.partition(".")[0]
    return name if name in FLOORS else "__init__"


def imports_stay_below(path: PurePath, tree: ast.Module) -> Iterator[str]:
    own = floor_of(path)
    if own not in FLOORS:
        yield f"{path} is on no floor"
        return
    rules = FLOORS[own]
    for found in imports(tree):
        name = name_on_a_floor(found.module)
        allowed = {own} | rules.below | rules.parties | EVERYWHERE
        if name in sys.stdlib_module_names - rules.never:
            is_allowed = True
        else:
            is_allowed = name in allowed or (found.is_lazy and name in rules.lazily)
        if not is_allowed:
            yield f"{path}:{found.line} {own} may not import {found.module}"


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The string constants of a module with their lines, without the docstrings."""
    bare = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(literal(part) for part in node.values)
        elif isinstance(node, ast.Constant) and id(node) not in bare:
            yield node.lineno, literal(node)


def literal(node: ast.expr) -> str:
    """A string constant's text; a stand-in for what an f-string fills in."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else "?"


def sql_is_in_storage(path: PurePath, tree: ast.Module) -> Iterator[str]:
    if floor_of(path) in {"storage", "errors"}:
        return
    for line in {line for line, text in texts(tree) if SQL.search(text)}:
        yield f"{path}:{line} holds SQL, which belongs to storage/"


def state_changes_in_lifecycle(path: PurePath, tree: ast.Module) -> Iterator[str]:
    if path == PurePath("domain/lifecycle.py"):
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        if called == "replace" and any(word.arg == "state" for word in node.keywords):
            yield f"{path}:{node.lineno} changes a state; only lifecycle.apply may"


def ground_floors_are_timeless(path: PurePath, tree: ast.Module) -> Iterator[str]:
    """Neither async nor a clock below the engine."""
    if floor_of(path) not in {"domain", "storage"}:
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.AsyncFunctionDef | ast.AsyncFor | ast.AsyncWith | ast.Await):
            yield f"{path}:{node.lineno} is async"
        if isinstance(node, ast.Attribute) and node.attr in CLOCK_READS and is_a_clock(node.value):
            yield f"{path}:{node.lineno} reads a clock"


def is_a_clock(owner: ast.expr) -> bool:
    return ast.unparse(owner).rpartition(".")[2] in {"datetime", "date", "time"}


def nothing_stored_is_evaluated(path: PurePath, tree: ast.Module) -> Iterator[str]:
    """No pickle, and no eval or exec outside the notebook, where a cell is the user's own."""
    for found in imports(tree):
        if found.module.split(".")[0] in {"pickle", "marshal", "shelve", "dill", "cloudpickle"}:
            yield f"{path}: {found.module} is imported"
    if floor_of(path) == "notebook":
        return
    for node in ast.walk(tree):
        called = node.func if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.id in {"eval", "exec"}:
            yield f"{path}:{called.lineno} calls {called.id}"


def name_is_a_noun(path: PurePath, tree: ast.Module) -> Iterator[str]:
    del tree
    for part in path.parts:
        if part.removesuffix(".py").strip("_") in NAMES_THAT_GATHER:
            yield f"{path}: {part} is a name for what fits nowhere"


CHECKS: tuple[Check, ...] = (
    imports_stay_below,
    sql_is_in_storage,
    state_changes_in_lifecycle,
    ground_floors_are_timeless,
    nothing_stored_is_evaluated,
    name_is_a_noun,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_package_keeps_its_floors(check: Check) -> None:
    package = CHECKOUT / PACKAGE

    broken = [
        complaint
        for path in sorted(package.rglob("*.py"))
        for complaint in check(path.relative_to(package), ast.parse(path.read_text()))
    ]

    assert broken == []


def too_long(text: str) -> bool:
    return len(text.splitlines()) > LONGEST_FILE


def test_no_file_is_longer_than_400_lines() -> None:
    files = [
        path
        for folder in (PACKAGE, "dashboard", "tests")
        for path in (CHECKOUT / folder).rglob("*")
        if path.suffix in {".py", ".sql"}
    ]

    assert [str(path) for path in files if too_long(path.read_text())] == []


def test_longest_file_is_allowed_and_one_line_more_is_not() -> None:
    assert not too_long("x = 1\n" * 400)
    assert too_long("x = 1\n" * 401)


PLANTED = [
    (imports_stay_below, "domain/job.py", "import rxferrix_lab.storage.store"),
    (imports_stay_below, "domain/job.py", "from rxferrix_lab.app import functions"),
    (imports_stay_below, "domain/job.py", "from rxferrix_lab import engine"),
    (imports_stay_below, "domain/job.py", "from rxferrix_lab import RxFerrix"),
    (imports_stay_below, "domain/job.py", "from . import cron"),
    (imports_stay_below, "domain/job.py", "import time"),
    (imports_stay_below, "domain/job.py", "def f():\n    import duckdb"),
    (imports_stay_below, "storage/store.py", "if TYPE_CHECKING:\n    import rxferrix_lab.engine"),
    (imports_stay_below, "engine/writer.py", "import param"),
    (imports_stay_below, "engine/writer.py", "try:\n    import asyncio\nfinally:\n    pass"),
    (imports_stay_below, "app/app.py", "from rxferrix_lab.reactive.model import LiveModel"),
    (imports_stay_below, "app/app.py", "def f():\n    from rxferrix_lab.views import page"),
    (imports_stay_below, "views/page.py", "from rxferrix_lab.storage.store import Store"),
    (imports_stay_below, "__init__.py", "import pandas as pd"),
    (imports_stay_below, "extras.py", "x = 1"),
    (sql_is_in_storage, "engine/writer.py", 'run("SELECT id FROM notes")'),
    (sql_is_in_storage, "app/app.py", 'run(f"""\n    UPDATE {table} SET x = 1""")'),
    (sql_is_in_storage, "views/jobs.py", 'run("the rows FROM _scheduled_jobs")'),
    (state_changes_in_lifecycle, "engine/attempts.py", 'replace(job, attempt=1, state="failed")'),
    (state_changes_in_lifecycle, "domain/job.py", 'dataclasses.replace(job, state="failed")'),
    (ground_floors_are_timeless, "domain/job.py", "async def f(): ..."),
    (ground_floors_are_timeless, "storage/store.py", "x = datetime.now(UTC)"),
    (ground_floors_are_timeless, "domain/zone.py", "x = dt.datetime.now(UTC)"),
    (nothing_stored_is_evaluated, "app/values.py", "import pickle"),
    (nothing_stored_is_evaluated, "storage/codec.py", "def f(x):\n    return eval(x)"),
    (name_is_a_noun, "domain/util.py", ""),
    (name_is_a_noun, "app/core/job.py", ""),
]


@pytest.mark.parametrize(("check", "path", "source"), PLANTED)
def test_planted_violation_is_refused(check: Check, path: str, source: str) -> None:
    assert len(list(check(PurePath(path), ast.parse(source)))) == 1


HARMLESS = [
    (imports_stay_below, "domain/job.py", "from rxferrix_lab.errors import InstantError"),
    (imports_stay_below, "domain/job.py", "from rxferrix_lab import errors"),
    (imports_stay_below, "domain/cron.py", "import zoneinfo\nfrom croniter import croniter"),
    (imports_stay_below, "app/app.py", "def f():\n    from rxferrix_lab.reactive import model"),
    (imports_stay_below, "app/app.py", "if TYPE_CHECKING:\n    import pandas as pd"),
    (imports_stay_below, "engine/writer.py", "from typing_extensions import deprecated"),
    (sql_is_in_storage, "storage/store.py", 'run("SELECT id FROM _scheduled_jobs")'),
    (sql_is_in_storage, "app/app.py", '"""Say\n\n    SELECT 1\n"""\nkind = "SELECT"'),
    (sql_is_in_storage, "app/app.py", 'raise TypeError("write what to read FROM there")'),
    (state_changes_in_lifecycle, "domain/lifecycle.py", 'replace(job, state="failed")'),
    (
        state_changes_in_lifecycle,
        "engine/attempts.py",
        'replace(row, attempt=1)\n"a".replace(b, c)',
    ),
    (ground_floors_are_timeless, "engine/clock.py", "async def f(): datetime.now(UTC)"),
    (ground_floors_are_timeless, "domain/job.py", "x = self.clock.now()"),
    (name_is_a_noun, "app/database.py", ""),
]


@pytest.mark.parametrize(("check", "path", "source"), HARMLESS)
def test_harmless_source_is_let_through(check: Check, path: str, source: str) -> None:
    assert list(check(PurePath(path), ast.parse(source))) == []
