"""Contract 1.7: ids are drawn once, and step over those that rows were given."""

from pathlib import Path
from typing import Any

import duckdb
import pytest

from rxferrix_lab import MutationCtx, RxFerrix, TestApp
from rxferrix_lab.errors import (
    SwallowedDatabaseError,
    TableError,
)
from tests.contract.table_program import LARGEST, app_with, do, draw, draw_three


class TestIds:
    async def test_drawn_ids_count_up_from_one(self) -> None:
        app = app_with()
        async with TestApp(app) as t:
            assert await do(t, app, draw_three) == [1, 2, 3]

    async def test_drawn_ids_begin_above_the_largest_when_the_app_starts(
        self, tmp_path: Path
    ) -> None:
        with duckdb.connect(tmp_path / "a.duckdb") as outside:
            outside.execute('CREATE TABLE notes ("Id" BIGINT)')
            outside.execute("INSERT INTO notes VALUES (5), (41), (NULL), (-3)")
        app = app_with()
        async with TestApp(app, database=tmp_path / "a.duckdb") as t:
            assert await do(t, app, draw_three) == [42, 43, 44]

    async def test_an_id_is_never_drawn_twice_whatever_is_deleted_or_restarted(
        self, tmp_path: Path
    ) -> None:
        app = app_with()
        drawn: list[int] = []

        def draw_and_delete(ctx: MutationCtx) -> int:
            row = draw(ctx)
            ctx.db.delete("notes", row)
            return row

        for _ in range(4):
            async with TestApp(app, database=tmp_path / "a.duckdb") as t:
                drawn += [await do(t, app, body) for body in (draw, draw_and_delete, draw)]
                await t.restart()
                drawn.append(await do(t, app, draw_and_delete))
                await do(t, app, lambda ctx: ctx.db.sql("DELETE FROM notes").rowcount)

        assert len(set(drawn)) == len(drawn)
        assert drawn == sorted(drawn)

    async def test_a_given_id_is_kept_and_a_drawn_one_steps_over_it(self) -> None:
        app = app_with()

        def body(ctx: MutationCtx) -> list[int]:
            given = [ctx.db.insert("notes", {"id": row}) for row in (2, 4, -7)]
            return [*given, draw(ctx), draw(ctx), draw(ctx)]

        async with TestApp(app) as t:
            assert await do(t, app, body) == [2, 4, -7, 1, 3, 5]
            assert await do(t, app, draw) == 6

    async def test_a_drawn_id_steps_over_ids_that_sql_brought(self) -> None:
        app = app_with()

        def body(ctx: MutationCtx) -> list[int]:
            first = draw(ctx)
            ctx.db.sql("INSERT INTO notes (id) VALUES (2), (4)")
            second = draw(ctx)
            ctx.db.sql("UPDATE notes SET id = 5 WHERE id = 2")
            return [first, second, draw(ctx)]

        async with TestApp(app) as t:
            assert await do(t, app, body) == [1, 3, 6]

    async def test_a_drawn_id_steps_over_more_ids_than_are_remembered(self) -> None:
        app = app_with()

        def body(ctx: MutationCtx) -> int:
            draw(ctx)
            ctx.db.sql("INSERT INTO notes (id) SELECT i FROM range(2, 30001) t(i)")
            return draw(ctx)

        async with TestApp(app) as t:
            assert await do(t, app, body) == 30_001

    async def test_a_table_made_with_rows_in_it_begins_above_them(self) -> None:
        app = RxFerrix(interactive=True)

        def make(ctx: MutationCtx) -> int:
            ctx.db.sql("CREATE TABLE notes AS SELECT i::BIGINT AS id FROM range(1, 11) t(i)")
            return draw(ctx)

        def make_again(ctx: MutationCtx) -> int:
            ctx.db.sql("DROP TABLE notes")
            ctx.db.sql("CREATE TABLE notes AS SELECT 12::BIGINT AS id")
            return draw(ctx)

        async with TestApp(app) as t:
            assert await do(t, app, make) == 11
            assert await do(t, app, make_again) == 13

    async def test_a_renamed_table_remembers_what_was_drawn(self) -> None:
        app = app_with()

        def body(ctx: MutationCtx) -> int:
            ctx.db.delete("notes", draw_three(ctx)[2])
            ctx.db.sql("ALTER TABLE notes RENAME TO words")
            return ctx.db.insert("words", {})

        async with TestApp(app) as t:
            assert await do(t, app, body) == 4

    async def test_the_largest_id_of_all_does_not_use_up_the_rest(self, tmp_path: Path) -> None:
        app = app_with()
        async with TestApp(app, database=tmp_path / "a.duckdb") as t:
            await do(t, app, lambda ctx: ctx.db.insert("notes", {"id": LARGEST}))
            await do(t, app, lambda ctx: ctx.db.insert("notes", {"id": LARGEST - 1}))
            assert await do(t, app, draw) == 1
        with duckdb.connect(tmp_path / "a.duckdb") as outside:
            outside.execute("INSERT INTO notes (id) SELECT i FROM range(2, 2001) t(i)")
        async with TestApp(app, database=tmp_path / "a.duckdb") as t:
            assert await do(t, app, draw_three) == [2001, 2002, 2003]

    async def test_an_id_that_is_taken_is_refused(self) -> None:
        app = app_with()
        async with TestApp(app) as t:
            row = await do(t, app, draw)
            with pytest.raises(TableError, match=f"it has a row {row} already"):
                await do(t, app, lambda ctx: ctx.db.insert("notes", {"id": row}))

            assert len(t.sql("SELECT * FROM notes")) == 1

    async def test_an_id_of_a_deleted_row_can_be_given_again(self) -> None:
        app = app_with()

        def body(ctx: MutationCtx) -> dict[str, Any] | None:
            row = ctx.db.insert("notes", {"text": "old"})
            ctx.db.delete("notes", row)
            ctx.db.insert("notes", {"id": row, "text": "new"})
            return ctx.db.get("notes", row)

        async with TestApp(app) as t:
            assert await do(t, app, body) == {"id": 1, "text": "new"}

    async def test_a_mutation_that_swallowed_a_taken_id_fails(self) -> None:
        app = app_with()

        def body(ctx: MutationCtx) -> None:
            row = draw(ctx)
            try:
                ctx.db.insert("notes", {"id": row})
            except TableError:
                return

        async with TestApp(app) as t:
            with pytest.raises(SwallowedDatabaseError):
                await do(t, app, body)
