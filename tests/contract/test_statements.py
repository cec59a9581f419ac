"""Contract 1.6: which statements run, and what they hand out."""

import pytest

from rxferrix_lab import MutationCtx, QueryCtx, Rows, RxFerrix, TestApp
from rxferrix_lab.errors import (
    ForbiddenStatementError,
)


def notes() -> RxFerrix:
    return RxFerrix().table("notes", "text VARCHAR, size INTEGER")


class TestStatements:
    async def test_sql_hands_out_finished_rows(self) -> None:
        app = notes()
        kept: list[Rows] = []

        @app.mutation
        def read(ctx: MutationCtx) -> None:
            ctx.db.insert("notes", {"id": 1, "text": "a", "size": 2})
            kept.append(ctx.db.sql("SELECT id, text FROM notes WHERE size = $size", size=2))

        async with TestApp(app) as t:
            await t.run_mutation(read)
            rows = kept[0]

            assert rows.columns == ["id", "text"]
            assert rows.fetchall() == list(rows) == [(1, "a")]
            assert rows.fetchone() == (1, "a")
            assert rows.scalar() == 1
            assert rows.dicts() == [{"id": 1, "text": "a"}]
            assert rows.df().to_dict("records") == [{"id": 1, "text": "a"}]
            assert (rows.rowcount, len(rows)) == (1, 1)

    async def test_a_write_says_how_many_rows_it_wrote(self) -> None:
        app = notes()

        @app.mutation
        def write(ctx: MutationCtx) -> list[int]:
            return [
                ctx.db.sql("INSERT INTO notes SELECT i, 'x', 1 FROM range(5) t(i)").rowcount,
                ctx.db.sql("UPDATE notes SET size = 2 WHERE id < 3").rowcount,
                ctx.db.sql("DELETE FROM notes WHERE size = 2 RETURNING id").rowcount,
                ctx.db.sql("DELETE FROM notes WHERE size = 9").rowcount,
            ]

        async with TestApp(app) as t:
            assert await t.run_mutation(write) == [5, 3, 3, 0]

    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT count(*) FROM notes",
            "EXPLAIN SELECT * FROM notes",
            "INSERT INTO notes VALUES (1, 'a', 1)",
            "UPDATE notes SET text = 'b'",
            "DELETE FROM notes",
            (
                "MERGE INTO notes USING (SELECT 1::BIGINT AS id) AS new ON new.id = notes.id"
                " WHEN NOT MATCHED THEN INSERT VALUES (new.id, 'm', 1)"
            ),
            "CREATE TABLE other (id BIGINT)",
            "CREATE VIEW texts AS SELECT text FROM notes",
            "CREATE INDEX by_text ON notes (text)",
            "CREATE SEQUENCE numbers",
            "CREATE TYPE mood AS ENUM ('good', 'bad')",
            "CREATE MACRO twice(x) AS x * 2",
            "CREATE SCHEMA archive",
            "ALTER TABLE notes ADD COLUMN colour VARCHAR",
            "DROP TABLE notes",
        ],
    )
    async def test_a_mutation_may_run(self, statement: str) -> None:
        app = notes()

        @app.mutation
        def run(ctx: MutationCtx) -> None:
            ctx.db.sql(statement)

        async with TestApp(app) as t:
            await t.run_mutation(run)

    @pytest.mark.parametrize(
        "statement",
        [
            "COMMIT", "ROLLBACK", "BEGIN", "CHECKPOINT", "SET threads = 1", "PRAGMA version",
            "ATTACH 'other.duckdb'", "COPY notes TO 'x.csv'", "SELECT * FROM 'x.csv'",
            "SELECT * FROM read_csv('x.csv')", "INSTALL httpfs", "LOAD httpfs", "VACUUM",
            "SELECT 1; SELECT 2", "USE memory", "EXPORT DATABASE 'x'", "PREPARE p AS SELECT 1",
        ],
    )  # fmt: skip
    async def test_all_else_is_forbidden(self, statement: str) -> None:
        app = notes()

        @app.mutation
        def run(ctx: MutationCtx) -> None:
            ctx.db.sql(statement)

        async with TestApp(app) as t:
            with pytest.raises(ForbiddenStatementError):
                await t.run_mutation(run)

    async def test_a_query_only_reads(self) -> None:
        app = notes()

        @app.query
        def write(ctx: QueryCtx, verb: str) -> None:
            match verb:
                case "sql":
                    ctx.db.sql("DELETE FROM notes")
                case "insert":
                    ctx.db.insert("notes", {"text": "x"})
                case "patch":
                    ctx.db.patch("notes", 1, {"text": "x"})
                case _:
                    ctx.db.delete("notes", 1)

        async with TestApp(app) as t:
            for verb in ("sql", "insert", "patch", "delete"):
                with pytest.raises(ForbiddenStatementError, match="write in a mutation"):
                    await t.run_query(write, verb)
