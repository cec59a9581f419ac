"""Contract 1.7: insert, get, patch and delete on any table with a BIGINT id."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest

from rxferrix_lab import MutationCtx, QueryCtx, RxFerrix, TestApp
from rxferrix_lab.errors import (
    DuplicateNameError,
    ReservedTableError,
    TableError,
    UnknownRowError,
)
from tests.contract.table_program import app_with, do, draw

NOTHING: dict[str, object] = {}


class TestVerbs:
    async def test_insert_returns_the_id_that_it_drew_and_get_finds_the_row(self) -> None:
        app = app_with("text VARCHAR, size INTEGER DEFAULT 7")

        @app.query
        def look(ctx: QueryCtx, row: int) -> dict[str, int | str | None] | None:
            return ctx.db.get("notes", row)

        async with TestApp(app) as t:
            row = await do(t, app, lambda ctx: ctx.db.insert("notes", {"text": "a"}))

            assert await t.run_query(look, row) == {"id": row, "text": "a", "size": 7}

    async def test_get_of_an_unknown_id_is_none(self) -> None:
        app = app_with()

        @app.query
        def look(ctx: QueryCtx) -> bool:
            return ctx.db.get("notes", 99) is None

        async with TestApp(app) as t:
            assert await t.run_query(look)
            assert await do(t, app, lambda ctx: ctx.db.get("notes", 99) is None)

    async def test_patch_changes_the_named_columns_only(self) -> None:
        app = app_with("text VARCHAR, size INTEGER")
        async with TestApp(app) as t:
            row = await do(t, app, lambda ctx: ctx.db.insert("notes", {"text": "a", "size": 1}))
            await do(t, app, lambda ctx: ctx.db.patch("notes", row, {"size": None}))
            await do(t, app, lambda ctx: ctx.db.patch("notes", row, {}))

            assert await do(t, app, lambda ctx: ctx.db.get("notes", row)) == {
                "id": row, "text": "a", "size": None,
            }  # fmt: skip

    async def test_delete_takes_the_row_out(self) -> None:
        app = app_with()
        async with TestApp(app) as t:
            row = await do(t, app, draw)
            await do(t, app, lambda ctx: ctx.db.delete("notes", row))

            assert t.sql("SELECT * FROM notes").empty

    async def test_every_read_in_a_mutation_sees_its_own_writes(self) -> None:
        app = app_with("text VARCHAR, size INTEGER")
        seen: list[object] = []

        def body(ctx: MutationCtx) -> None:
            ctx.db.sql("CREATE VIEW big AS SELECT text FROM notes WHERE size > 5")
            ctx.db.sql("CREATE MACRO biggest() AS (SELECT max(size) FROM notes)")
            row = ctx.db.insert("notes", {"text": "a", "size": 9})
            seen.append(ctx.db.sql("SELECT text FROM notes").fetchall())
            ctx.db.patch("notes", row, {"text": "b"})
            seen.append(ctx.db.sql("SELECT text FROM big").fetchall())
            ctx.db.patch("notes", row, {"size": 8})
            seen.append(ctx.db.sql("SELECT biggest()").scalar())
            ctx.db.patch("notes", row, {"size": 10})
            seen.append(ctx.db.get("NOTES", row))
            ctx.db.patch("notes", row, {"size": 11})
            seen.append(ctx.db.sql("UPDATE notes SET size = size + 1 RETURNING size").scalar())
            ctx.db.delete("notes", row)
            seen.append(ctx.db.sql("WITH n AS (FROM notes) SELECT count(*) FROM n").scalar())

        async with TestApp(app) as t:
            await do(t, app, body)

        assert seen == [
            [("a",)], [("b",)], 8, {"id": 1, "text": "b", "size": 10}, 12, 0,
        ]  # fmt: skip

    async def test_a_mutation_sees_the_jobs_that_it_scheduled(self) -> None:
        app = app_with()

        @app.mutation
        def schedule(ctx: MutationCtx) -> list[object]:
            job = ctx.scheduler.run_after(timedelta(0), schedule)
            by_sql = ctx.db.sql("SELECT id FROM _scheduled_jobs").fetchall()
            row = ctx.db.get("_scheduled_jobs", job)
            return [by_sql == [(job,)], row is not None and row["id"] == job]

        async with TestApp(app) as t:
            assert await t.run_mutation(schedule) == [True, True]

    @pytest.mark.parametrize("verb", ["patch", "delete"])
    async def test_an_unknown_row_fails_the_mutation_and_nothing_is_written(
        self, verb: str
    ) -> None:
        app = app_with()

        def body(ctx: MutationCtx) -> None:
            ctx.db.insert("notes", {"text": "lost"})
            if verb == "patch":
                ctx.db.patch("notes", 99, {"text": "x"})
            else:
                ctx.db.delete("notes", 99)

        async with TestApp(app) as t:
            with pytest.raises(UnknownRowError, match="notes has no row with id 99"):
                await do(t, app, body)

            assert t.sql("SELECT * FROM notes").empty

    async def test_a_row_that_this_mutation_deleted_is_unknown_to_it(self) -> None:
        app = app_with()

        def twice(ctx: MutationCtx) -> None:
            row = draw(ctx)
            ctx.db.delete("notes", row)
            ctx.db.delete("notes", row)

        async with TestApp(app) as t:
            with pytest.raises(UnknownRowError):
                await do(t, app, twice)

    async def test_a_job_that_patches_an_unknown_row_fails_with_that_error(self) -> None:
        app = app_with()

        @app.mutation
        def patch(ctx: MutationCtx) -> None:
            ctx.db.patch("notes", 99, {"text": "x"})

        async with TestApp(app) as t:
            job = await t.scheduler.run_after(timedelta(0), patch)
            await t.run_due_jobs()

            error = t.job(job).error
            assert error is not None
            assert error.type == "UnknownRowError"

    async def test_a_value_is_written_as_it_was_when_the_verb_was_called(self) -> None:
        app = app_with("tags VARCHAR[]")

        def body(ctx: MutationCtx) -> None:
            tags = ["a"]
            ctx.db.insert("notes", {"tags": tags})
            tags.append("b")

        async with TestApp(app) as t:
            await do(t, app, body)

            assert [list(tags) for tags in t.sql("SELECT tags FROM notes").tags] == [["a"]]

    async def test_verbs_take_duckdbs_values(self) -> None:
        app = app_with(
            "due TIMESTAMPTZ, day DATE, price DECIMAL(10, 2), key UUID, raw BLOB, wait INTERVAL, "
            "doc JSON, tags INTEGER[], pair STRUCT(a INTEGER), yes BOOLEAN, ratio DOUBLE"
        )
        row = {
            "due": datetime(2026, 3, 1, 12, tzinfo=UTC),
            "day": date(2026, 3, 1),
            "price": Decimal("1.25"),
            "key": UUID(int=7),
            "raw": b"\x00\xff",
            "wait": timedelta(seconds=90),
            "tags": [1, 2],
            "pair": {"a": 1},
            "yes": True,
            "ratio": 0.1,
        }
        async with TestApp(app) as t:

            def body(ctx: MutationCtx) -> bool:
                first = ctx.db.insert("notes", {**row, "doc": {"a": [1]}})
                second = ctx.db.insert("notes", {})
                ctx.db.patch("notes", second, row)
                found, patched = ctx.db.get("notes", first), ctx.db.get("notes", second)
                assert found is not None
                assert patched is not None
                assert found.pop("doc") == '{"a":[1]}'
                return found == {"id": first, **row} and patched == {
                    "id": second, "doc": None, **row,
                }  # fmt: skip

            assert await do(t, app, body)


class TestTables:
    async def test_a_declared_table_is_made_at_the_start_and_kept_when_present(
        self, tmp_path: Path
    ) -> None:
        app = app_with()
        async with TestApp(app, database=tmp_path / "a.duckdb") as t:
            await do(t, app, lambda ctx: ctx.db.insert("notes", {"text": "kept"}))
        again = app_with("text VARCHAR, more INTEGER")
        async with TestApp(again, database=tmp_path / "a.duckdb") as t:
            assert list(t.sql("SELECT text FROM notes").text) == ["kept"]
            assert list(t.sql("SELECT * FROM notes").columns) == ["id", "text"]

    async def test_a_table_declared_while_the_app_runs_is_made(self) -> None:
        app = RxFerrix(interactive=True)
        async with app:
            app.table("notes", "text VARCHAR")
            app.mutation(name="add")(draw)

            assert await app.run_mutation("add") == 1

    async def test_a_table_made_by_sql_works_too(self) -> None:
        app = RxFerrix(interactive=True)

        def body(ctx: MutationCtx) -> list[int]:
            ctx.db.sql('CREATE TABLE "Order" ("ID" BIGINT PRIMARY KEY, "Select" VARCHAR)')
            first = ctx.db.insert("order", {"select": "a"})
            second = ctx.db.insert("ORDER", {"Id": 9, "SELECT": "b"})
            ctx.db.patch("Order", second, {"select": "c"})
            ctx.db.delete("order", first)
            return [first, second]

        async with TestApp(app) as t:
            assert await do(t, app, body) == [1, 9]
            assert t.sql('SELECT * FROM "Order"').to_dict("list") == {"ID": [9], "Select": ["c"]}
            assert await do(t, app, lambda ctx: ctx.db.get("order", 9)) == {"ID": 9, "Select": "c"}

    @pytest.mark.parametrize("name", ["select", "Notes", "T1_x"])
    async def test_any_plain_name_can_be_declared(self, name: str) -> None:
        app = app_with("text VARCHAR", name)
        async with TestApp(app) as t:
            await do(t, app, lambda ctx: ctx.db.insert(name, {"text": "a"}))

            assert await do(t, app, lambda ctx: ctx.db.get(name.upper(), 1)) == {
                "id": 1, "text": "a",
            }  # fmt: skip

    def test_names_that_differ_in_case_alone_are_one_table(self) -> None:
        app = RxFerrix(interactive=False).table("Notes", "text VARCHAR")

        with pytest.raises(DuplicateNameError, match='table "Notes"'):
            app.table("notes", "text VARCHAR")

    @pytest.mark.parametrize("name", ["", "1st", "two words", 'quo"te', "x" * 64])
    def test_a_name_that_is_no_plain_one_is_refused(self, name: str) -> None:
        with pytest.raises(TableError):
            RxFerrix().table(name, "text VARCHAR")

    @pytest.mark.parametrize(
        "columns", ["text", "id BIGINT", "text VARCHAR); DROP TABLE _crons; --", "text NOTHING"]
    )
    async def test_columns_that_make_no_table_fail_the_start(self, columns: str) -> None:
        with pytest.raises(TableError, match='table "notes": it cannot be made'):
            async with TestApp(app_with(columns)):
                pass

    def test_columns_that_make_no_table_are_told_at_once_while_the_app_runs(self) -> None:
        app = RxFerrix(interactive=True).start()
        app.mutation(name="add")(draw)
        try:
            with pytest.raises(TableError, match="it cannot be made"):
                app.table("notes", "text NOTHING")
            app.table("notes", "text VARCHAR -- what it says")

            assert app.call(app.registry.functions["add"]) == 1  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        finally:
            app.stop()

    @pytest.mark.parametrize("verb", ["insert", "patch", "delete"])
    async def test_the_schedulers_tables_are_refused(self, verb: str) -> None:
        app = app_with()

        def body(ctx: MutationCtx) -> None:
            match verb:
                case "insert":
                    ctx.db.insert("_scheduled_jobs", {"id": 1})
                case "patch":
                    ctx.db.patch("_crons", 1, {"name": "x"})
                case _:
                    ctx.db.delete("_execution_log", 1)

        async with TestApp(app) as t:
            with pytest.raises(ReservedTableError):
                await do(t, app, body)
        with pytest.raises(ReservedTableError):
            app.table("_mine", "text VARCHAR")

    @pytest.mark.parametrize(
        ("verb", "args", "message"),
        [
            ("insert", ("nowhere", NOTHING), r'make it with app\.table\("nowhere", "…"\)'),
            ("insert", ("plain", NOTHING), "need a column id of type BIGINT"),
            ("insert", ("notes", {"colour": 1}), "no column 'colour'"),
            ("insert", ("notes", {"text": "a", "TEXT": "b"}), "text is given twice"),
            ("insert", ("notes", {"id": "7"}), "an id is a whole number"),
            ("insert", ("notes", {"id": 2**63}), "an id is a whole number"),
            ("insert", ("notes", ["x"]), "column names to values"),
            ("get", ("notes", True), "an id is a whole number"),
            ("patch", ("notes", 1, {"id": 2}), "cannot change an id"),
        ],
    )
    async def test_what_does_not_fit_the_table_is_told(
        self, verb: str, args: tuple[object, ...], message: str
    ) -> None:
        app = app_with()

        def run(ctx: MutationCtx) -> None:
            ctx.db.sql("CREATE TABLE plain (id INTEGER)")
            getattr(ctx.db, verb)(*args)

        async with TestApp(app) as t:
            with pytest.raises(TableError, match=message):
                await do(t, app, run)

    async def test_writes_land_in_the_order_of_the_verbs_where_a_key_asks_for_it(self) -> None:
        app = app_with("text VARCHAR UNIQUE")

        def body(ctx: MutationCtx) -> None:
            for row, text in ((1, "a"), (2, "b"), (3, "c")):
                ctx.db.insert("notes", {"id": row, "text": text})

        def swap(ctx: MutationCtx) -> None:
            ctx.db.delete("notes", 1)
            ctx.db.patch("notes", 2, {"text": "a"})
            ctx.db.insert("notes", {"id": 4, "text": "b"})

        async with TestApp(app) as t:
            await do(t, app, body)
            await do(t, app, swap)

            assert t.sql("SELECT * FROM notes ORDER BY id").to_dict("list") == {
                "id": [2, 3, 4], "text": ["a", "c", "b"],
            }  # fmt: skip

    async def test_a_foreign_key_sees_the_row_inserted_before(self) -> None:
        app = app_with("key INTEGER")

        def body(ctx: MutationCtx) -> None:
            ctx.db.sql("CREATE TABLE books (id BIGINT PRIMARY KEY)")
            ctx.db.sql("CREATE TABLE pages (id BIGINT, book BIGINT REFERENCES books (id))")

        def write(ctx: MutationCtx) -> None:
            ctx.db.insert("books", {"id": 7})
            ctx.db.sql("INSERT INTO pages VALUES (1, 7)")
            ctx.db.insert("pages", {"book": ctx.db.insert("books", {})})

        async with TestApp(app) as t:
            await do(t, app, body)
            await do(t, app, write)

            assert list(t.sql("SELECT book FROM pages ORDER BY book").book) == [1, 7]
