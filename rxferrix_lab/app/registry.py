"""All that an app declares: functions, pools, crons and tables.

Knows nothing of a running engine.
"""

import re
from typing import Any

from rxferrix_lab.app.functions import Registered
from rxferrix_lab.domain.cron_record import DeclaredCron
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.errors import DuplicateNameError, TableError, UnknownFunctionError
from rxferrix_lab.storage.catalog import check_writable

_TABLE_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,62}")


class Registry:
    """Names to what they stand for.

    In an interactive session a second declaration replaces the first.
    """

    def __init__(self, *, is_interactive: bool) -> None:
        self.is_interactive = is_interactive
        self.functions: dict[str, Registered[..., Any]] = {}
        self.pools: dict[str, Workpool] = {}
        self.crons: dict[str, DeclaredCron] = {}
        self.tables: dict[str, str] = {}

    def function(self, name: str) -> Registered[..., Any]:
        """The function of that name.

        Raises:
            UnknownFunctionError: if there is none.
        """
        found = self.functions.get(name)
        if found is None:
            raise UnknownFunctionError(name)
        return found

    def add_function(self, function: Registered[..., Any]) -> None:
        """Register a function.

        Raises:
            DuplicateNameError: if the name is taken, outside an interactive session.
        """
        self._refuse_twice("function", function.name, self.functions)
        self.functions[function.name] = function

    def add_pool(self, pool: object) -> None:
        """Declare a pool.

        Raises:
            DuplicateNameError: if the name is taken, outside an interactive session.
        """
        if not isinstance(pool, Workpool):
            raise TypeError(f"workpool() takes a Workpool, not {pool!r:.60}")
        self._refuse_twice("workpool", pool.name, self.pools)
        self.pools[pool.name] = pool

    def add_cron(self, cron: DeclaredCron) -> None:
        """Declare a cron or an interval.

        Raises:
            DuplicateNameError: if the name is taken, outside an interactive session.
        """
        self._refuse_twice("cron", cron.name, self.crons)
        self.crons[cron.name] = cron

    def add_table(self, name: object, columns: object) -> None:
        """Declare a table with an id.

        Raises:
            ReservedTableError: for a name of the scheduler's.
            TableError: for a name that is no plain identifier, or columns that are no text.
            DuplicateNameError: if the name is taken, outside an interactive session.
        """
        check_writable(name)
        if not isinstance(name, str) or not _TABLE_NAME.fullmatch(name):
            raise TableError(
                repr(name)[:60], "a table's name is a letter, then letters, digits or _"
            )
        if not isinstance(columns, str):
            raise TableError(
                name, 'columns are given as SQL text, such as "text VARCHAR, size BIGINT"'
            )
        # DuckDB's names have no case: "Notes" and "notes" are one table.
        same = [known for known in self.tables if known.lower() == name.lower()]
        self._refuse_twice("table", same[0] if same else name, self.tables)
        for known in same:
            del self.tables[known]
        self.tables[name] = columns

    def _refuse_twice(self, what: str, name: str, known: dict[str, Any]) -> None:
        if name in known and not self.is_interactive:
            raise DuplicateNameError(what, name)
