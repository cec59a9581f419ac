"""Which functions SQL may call.

Answers by name only, from DuckDB's own list of table functions: those that compute are allowed one
by one, all others read files, evaluate strings, or change the instance, and are refused, also ones
of later versions.
"""

import re

import duckdb

# Table functions that read nothing but their arguments and the catalog.
_HARMLESS = frozenset(
    {
        *("duckdb_columns", "duckdb_constraints", "duckdb_databases", "duckdb_dependencies"),
        *("duckdb_functions", "duckdb_indexes", "duckdb_keywords", "duckdb_schemas"),
        *("duckdb_sequences", "duckdb_settings", "duckdb_tables", "duckdb_triggers"),
        *("duckdb_types", "duckdb_views", "generate_series", "icu_calendar_names", "json_each"),
        *("json_tree", "pg_timezone_names", "range", "repeat", "repeat_row", "summary"),
        *("test_all_types", "unnest"),
    }
)

# Scalar functions that wait (the writer is one thread), write a log, or read the environment.
_HARMFUL = frozenset({"getenv", "pg_sleep", "sleep_ms", "write_log"})

_HARMFUL_FAMILY = re.compile(
    r"(read_(csv|json|ndjson|parquet|text|blob|duckdb|xlsx|avro|vortex|lance|single)\w*"
    r"|(parquet|arrow|pandas|python|iceberg|delta|sqlite|postgres|mysql|seq)_(scan|query|map|execute)\w*"
    r"|sniff_\w+|st_read\w*|pragma_\w+)"
)

# Words that a parenthesis may follow without a call.
_SYNTAX = frozenset(
    {
        *("over", "filter", "values", "exists", "row", "columns", "extract", "cast"),
        *("try_cast", "coalesce", "position", "substring", "overlay", "trim", "grouping"),
        *("sets", "cube", "rollup", "exclude", "replace", "rename", "within", "group", "key"),
        *("decimal", "numeric", "dec", "char", "character", "varchar", "bit", "time"),
        *("timestamp", "interval", "struct", "map", "nullif", "materialized", "analyze"),
        *("conflict", "union", "enum", "include"),
    }
)


def is_forbidden_call(name: str, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether user SQL may not call ``name``, given in lower case."""
    forbidden, _ = _known(connection)
    return name in forbidden or _HARMFUL_FAMILY.fullmatch(name) is not None


def is_built_in(name: str, connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether ``name(`` is DuckDB's own, so that it cannot be a macro that reads tables."""
    _, built_in = _known(connection)
    return name in built_in


_lists: dict[str, tuple[frozenset[str], frozenset[str]]] = {}  # owner: _known; one entry a version


def _known(connection: duckdb.DuckDBPyConnection) -> tuple[frozenset[str], frozenset[str]]:
    known = _lists.get(duckdb.__version__)
    if known is None:
        known = _lists[duckdb.__version__] = _read_lists(connection)
    return known


def _read_lists(
    connection: duckdb.DuckDBPyConnection,
) -> tuple[frozenset[str], frozenset[str]]:
    with connection.cursor() as cursor:
        functions = cursor.execute(
            "SELECT DISTINCT lower(function_name), function_type FROM duckdb_functions() "
            "WHERE internal"
        ).fetchall()
        reserved = cursor.execute(
            "SELECT keyword_name FROM duckdb_keywords() WHERE keyword_category = 'reserved'"
        ).fetchall()
    of_tables = {name for name, kind in functions if kind in {"table", "pragma"}}
    built_in = {name for name, _ in functions} | {name for (name,) in reserved} | _SYNTAX
    return frozenset((of_tables - _HARMLESS) | _HARMFUL), frozenset(built_in)
