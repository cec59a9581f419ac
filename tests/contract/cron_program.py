"""A program as it stands in a file, edited between two starts, and what its crons did."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import duckdb

from rxferrix_lab.app.app import RxFerrix
from rxferrix_lab.app.contexts import ActionCtx, MutationCtx
from rxferrix_lab.app.functions import Action, Mutation
from rxferrix_lab.testing import TestApp

DAY = timedelta(days=1)


class Program:
    """A program as it stands in a file: the same functions, and the crons that a test declares."""

    note: Mutation[[str], None]
    rest: Action[[], None]

    def __init__(self, *, interactive: bool = False) -> None:
        self.app = app = RxFerrix(interactive=interactive)
        app.table("notes", "text VARCHAR")

        @app.mutation
        def note(ctx: MutationCtx, text: str) -> None:
            ctx.db.insert("notes", {"text": text})

        @app.action
        async def rest(ctx: ActionCtx) -> None:
            await ctx.sleep(DAY)

        self.note, self.rest = note, rest

    def cron(self, expr: str, text: str = "x", name: str = "c", zone: str = "UTC") -> RxFerrix:
        return self.app.cron_tz(name, expr, zone, self.note, text)

    def interval(self, every: timedelta, text: str = "x", name: str = "c") -> RxFerrix:
        return self.app.interval(name, every, self.note, text)


def runs(t: TestApp, cron: str = "c") -> list[str]:
    rows = t.sql(
        "SELECT scheduled_for AS at FROM _scheduled_jobs WHERE cron = $c ORDER BY id", c=cron
    )
    return [instant.strftime("%dT%H:%M:%S") for instant in rows["at"]]


def triggers(t: TestApp) -> list[tuple[str, int]]:
    rows = t.sql("SELECT trigger, missed FROM _scheduled_jobs ORDER BY id")
    return list(zip(rows["trigger"], rows["missed"], strict=True))


def texts(t: TestApp) -> list[str]:
    return list(t.sql("SELECT text FROM notes ORDER BY id")["text"])


def row(t: TestApp) -> dict[str, Any]:
    found = t.sql("SELECT * FROM _crons").iloc[0]
    return {str(name): value for name, value in found.items()}


def skips(t: TestApp) -> list[str]:
    return list(t.sql("SELECT detail FROM _execution_log WHERE outcome = 'skipped'")["detail"])


def spoil(database: Path, statement: str) -> None:
    """Change a database by hand, while no app holds it."""
    with duckdb.connect(str(database)) as connection:
        connection.execute(statement)
