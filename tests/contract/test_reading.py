"""Contract 7: the scheduler's tables, and what is read of an app."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from rxferrix_lab import (
    ActionCtx,
    Canceled,
    Failed,
    Identity,
    Job,
    JobId,
    MutationCtx,
    QueryCtx,
    RxFerrix,
    Succeeded,
    TestApp,
    Workpool,
)
from rxferrix_lab.errors import (
    ForbiddenStatementError,
    ReservedTableError,
    UnknownJobError,
)

NOW = timedelta(0)
LATER = timedelta(days=1)
ANN = Identity("ann")
ADMIN = Identity("root", admin=True)

CRONS = [
    "name", "kind", "expr", "zone", "every_us", "anchor", "function", "args", "next_run_at",
    "last_run_at", "last_job", "runs", "skipped", "missed", "paused", "declared_at",
]  # fmt: skip
WORKPOOLS = ["name", "max_parallelism", "declared_parallelism", "retries"]
LOG = [
    "id", "job", "function", "kind", "caller", "identity", "attempt", "started_at", "finished_at",
    "outcome", "error", "detail", "output", "progress",
]  # fmt: skip


def sample() -> RxFerrix:
    """An app with something of every kind."""
    app = RxFerrix().table("notes", "text VARCHAR")
    app.workpool(Workpool("emails", max_parallelism=2, retries=1))

    @app.query
    def count(ctx: QueryCtx) -> int:
        return int(ctx.db.sql("SELECT count(*) FROM notes").scalar())

    @app.mutation
    def add(ctx: MutationCtx, text: str) -> int:
        return ctx.db.insert("notes", {"text": text})

    @app.mutation
    def fail(ctx: MutationCtx) -> None:
        raise ValueError("no")

    @app.action
    async def send(ctx: ActionCtx, text: str) -> str:
        await ctx.sleep(timedelta(minutes=1))
        await ctx.run_mutation(add, text)
        return text.upper()

    @app.action
    async def break_down(ctx: ActionCtx) -> None:
        raise ValueError("down")

    @app.mutation
    def schedule(ctx: MutationCtx, name: str) -> JobId:
        return ctx.scheduler.run_after(NOW, app.registry.function(name), *ARGUMENTS[name])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    app.interval("beat", timedelta(hours=6), add, "beat")
    return app


ARGUMENTS: dict[str, tuple[str, ...]] = {
    "add": ("x",), "send": ("x",), "fail": (), "break_down": (),
}  # fmt: skip


def columns_of(t: TestApp, table: str) -> list[str]:
    return list(t.sql(f"SELECT * FROM {table}").columns)


class TestTables:
    async def test_jobs_have_the_fields_of_job(self) -> None:
        async with TestApp(sample()) as t:
            columns = columns_of(t, "_scheduled_jobs")

            assert columns[: len(fields(Job))] == [field.name for field in fields(Job)]

    @pytest.mark.parametrize(
        ("table", "columns"),
        [("_crons", CRONS), ("_workpools", WORKPOOLS), ("_execution_log", LOG)],
    )
    async def test_the_others_have_the_columns_that_are_promised(
        self, table: str, columns: list[str]
    ) -> None:
        async with TestApp(sample()) as t:
            assert set(columns) <= set(columns_of(t, table))

    async def test_instants_are_timestamps_with_zone_and_json_is_text(self) -> None:
        async with TestApp(sample()) as t:
            types = t.sql(
                """
                SELECT column_name, data_type
                FROM information_schema.columns
                WHERE table_name IN ('_scheduled_jobs', '_crons', '_execution_log')
                """
            )
            for column, kind in types.itertuples(index=False):
                if column.endswith("_at") or column in ("scheduled_for", "anchor"):
                    assert kind == "TIMESTAMP WITH TIME ZONE", column
                if column in ("args", "result", "error", "progress"):
                    assert kind == "VARCHAR", column

    async def test_stored_json_is_read_with_sql(self) -> None:
        async with TestApp(sample()) as t:
            await t.run_mutation("schedule", "add")
            await t.run_mutation("schedule", "fail")
            await t.run_due_jobs()
            found = t.sql(
                """
                SELECT args::JSON->>'text' AS text, result::JSON::INTEGER AS result,
                    error::JSON->>'message' AS message
                FROM _scheduled_jobs
                WHERE cron IS NULL
                ORDER BY id
                """
            )

            assert found.text[0] == "x"
            assert found.result[0] == 1
            assert found.message[1] == "no"

    async def test_crons_and_pools_are_rows(self) -> None:
        async with TestApp(sample()) as t:
            await t.run_due_jobs()

            cron = t.sql("SELECT * FROM _crons").iloc[0]
            assert (cron["name"], cron.kind, cron.every_us, cron.runs) == (
                "beat", "interval", 6 * 3600 * 10**6, 1,
            )  # fmt: skip
            assert cron.next_run_at == datetime(2026, 1, 1, 6, tzinfo=UTC)
            assert list(t.sql("SELECT * FROM _workpools")[WORKPOOLS].iloc[0]) == [
                "emails", 2, 2, 1,
            ]  # fmt: skip

    async def test_any_function_reads_them_and_makes_views_on_them(self) -> None:
        app = sample()

        @app.mutation
        def define(ctx: MutationCtx) -> None:
            ctx.db.sql(
                "CREATE VIEW waiting AS SELECT id FROM _scheduled_jobs WHERE state = 'pending'"
            )

        @app.query
        def waiting(ctx: QueryCtx) -> int:
            return int(ctx.db.sql("SELECT count(*) FROM waiting").scalar())

        @app.mutation
        def schedule_and_look(ctx: MutationCtx) -> int:
            ctx.scheduler.run_after(LATER, define)
            return int(ctx.db.sql("SELECT count(*) FROM waiting").scalar())

        async with TestApp(app) as t:
            await t.run_due_jobs()
            await t.run_mutation(define)

            assert await t.run_mutation(schedule_and_look) == 1
            assert await t.run_query(waiting) == 1

    @pytest.mark.parametrize("table", ["_scheduled_jobs", "_crons", "_workpools", "_execution_log"])
    @pytest.mark.parametrize(
        "statement",
        [
            "DELETE FROM {}",
            "UPDATE {} SET function = 'x'",
            "INSERT INTO {} SELECT * FROM {}",
            "DROP TABLE {}",
            "ALTER TABLE {} ADD COLUMN more INTEGER",
            "CREATE INDEX fast ON {} (id)",
            "CREATE OR REPLACE TABLE {} (id BIGINT)",
            'DELETE FROM "memory"."main"."{}"',
            "ALTER TABLE {} RENAME TO mine",
        ],
    )
    async def test_only_the_scheduler_writes_them(self, table: str, statement: str) -> None:
        app = sample()

        @app.mutation
        def write(ctx: MutationCtx) -> None:
            ctx.db.sql(statement.format(table, table))

        async with TestApp(app) as t:
            before = t.sql(f"SELECT * FROM {table}")
            with pytest.raises(ReservedTableError, match=table):
                await t.run_mutation(write)

            if table != "_execution_log":
                pd.testing.assert_frame_equal(t.sql(f"SELECT * FROM {table}"), before)


class TestExecutionLog:
    COLUMNS = "function, kind, caller, identity, job, attempt, outcome"

    async def log(self, t: TestApp) -> list[tuple[object, ...]]:
        rows = t.sql(f"SELECT {self.COLUMNS} FROM _execution_log ORDER BY id")
        return [
            tuple(None if pd.isna(value) else value for value in row)
            for row in rows.itertuples(index=False)
        ]

    async def test_every_execution_has_a_row_that_says_who_called(self) -> None:
        app = sample()
        async with TestApp(app) as t:
            await t.run_mutation("add", "a")
            await t.as_user(ANN).run_mutation("add", "b")
            with pytest.raises(ValueError, match="no"):
                await t.as_user(ANN).run_mutation("fail")
            with pytest.raises(ValueError, match="down"):
                await t.run_action("break_down")
            await t.run_query("count")

            assert await self.log(t) == [
                ("add", "mutation", "program", None, None, 1, "succeeded"),
                ("add", "mutation", "user", "ann", None, 1, "succeeded"),
                ("fail", "mutation", "user", "ann", None, 1, "failed"),
                ("break_down", "action", "program", None, None, 1, "failed"),
            ]

    async def test_jobs_are_called_by_the_scheduler_without_identity(self) -> None:
        async with TestApp(sample()) as t:
            first = await t.as_user(ANN).run_mutation("schedule", "send")
            second = await t.as_user(ANN).run_mutation("schedule", "fail")
            await t.advance_time(timedelta(minutes=2))
            log = await self.log(t)

            assert ("fail", "mutation", "scheduler", None, second, 1, "failed") in log
            assert ("send", "action", "scheduler", None, first, 1, "succeeded") in log
            assert ("add", "mutation", "scheduler", None, first, 1, "succeeded") in log

    async def test_a_mutation_of_a_retried_action_says_in_which_attempt_it_ran(self) -> None:
        app = sample()

        @app.action
        async def stumble(ctx: ActionCtx) -> None:
            await ctx.run_mutation(app.registry.functions["add"], "x")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            if ctx.attempt == 1:
                raise ValueError("once more")

        async with TestApp(app) as t:
            job = await t.scheduler.with_retries(1).run_after(NOW, stumble)
            await t.advance_time(timedelta(minutes=1))

            assert [row for row in await self.log(t) if row[4] == job] == [
                ("add", "mutation", "scheduler", None, job, 1, "succeeded"),
                ("stumble", "action", "scheduler", None, job, 1, "failed"),
                ("add", "mutation", "scheduler", None, job, 2, "succeeded"),
                ("stumble", "action", "scheduler", None, job, 2, "succeeded"),
            ]

    async def test_what_an_operator_did_has_a_row_without_a_kind(self) -> None:
        async with TestApp(sample()) as t:
            await t.run_due_jobs()
            t.as_user(ADMIN).run_cron_now("beat")
            t.pause_cron("beat")
            rows = t.sql("SELECT * FROM _execution_log WHERE kind IS NULL ORDER BY id")

            assert list(rows.caller) == ["operator", "program"]
            assert [rows.identity[0], rows.identity.isna()[1]] == ["root", True]
            assert list(rows.detail) == ["run_cron_now: cron beat", "pause_cron: cron beat"]

    async def test_a_row_has_its_times_and_its_error(self) -> None:
        async with TestApp(sample()) as t:
            job = await t.run_mutation("schedule", "send")
            await t.run_mutation("schedule", "fail")
            await t.advance_time(timedelta(minutes=2))
            sent = t.sql("SELECT * FROM _execution_log WHERE job = $job", job=job).iloc[-1]
            failed = t.sql(
                "SELECT error::JSON->>'type' AS type, error::JSON->>'message' AS message "
                "FROM _execution_log WHERE function = 'fail'"
            )

            assert sent.finished_at - sent.started_at == timedelta(minutes=1)
            assert failed.iloc[0].to_list() == ["ValueError", "no"]


class TestJobs:
    async def test_job_gives_one_with_its_json_read(self) -> None:
        async with TestApp(sample()) as t:
            job = t.job(await t.run_mutation("schedule", "add"))

            assert (job.function, job.kind, job.args, job.state, job.attempt) == (
                "add", "mutation", {"text": "x"}, "pending", 0,
            )  # fmt: skip
            assert job.due_at == t.now()

    async def test_jobs_are_a_frame_newest_first_with_the_fields_of_job(self) -> None:
        async with TestApp(sample()) as t:
            await t.run_due_jobs()
            made = [await t.run_mutation("schedule", name) for name in ("add", "fail", "send")]
            frame = t.jobs()

            assert list(frame.columns) == [field.name for field in fields(Job)]
            assert list(frame.id)[:3] == made[::-1]
            assert isinstance(frame.due_at.dtype, pd.DatetimeTZDtype)
            assert str(frame.due_at.dtype.tz) == "UTC"
            assert frame.args[0] == {"text": "x"}

    async def test_no_jobs_are_an_empty_frame_with_the_same_columns(self) -> None:
        async with TestApp(RxFerrix()) as t:
            assert list(t.jobs().columns) == [field.name for field in fields(Job)]
            assert t.jobs().empty

    async def test_jobs_are_filtered(self) -> None:
        app = sample()
        async with TestApp(app) as t:
            await t.run_due_jobs()
            await t.run_mutation("schedule", "fail")
            await t.run_due_jobs()
            await t.run_mutation("schedule", "add")
            pooled = await t.scheduler.pool("emails").enqueue(app.registry.function("break_down"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

            assert list(t.jobs(state="failed").function) == ["fail"]
            assert len(t.jobs(state=["pending", "succeeded"])) == 3
            assert len(t.jobs(function="add")) == 2
            assert list(t.jobs(pool="emails").id) == [pooled]
            assert list(t.jobs(cron="beat").function) == ["add"]
            assert list(t.jobs(limit=1).id) == [pooled]
            with pytest.raises(ValueError, match='"done" is not a state; the states are pending'):
                t.jobs(state="done")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
            with pytest.raises(ValueError, match="limit"):
                t.jobs(limit=0)

    async def test_sql_gives_a_frame_and_only_reads(self) -> None:
        async with TestApp(sample()) as t:
            await t.run_mutation("add", "a")

            frame = t.sql("SELECT text, id FROM notes WHERE text = $text", text="a")
            assert frame.to_dict("list") == {"text": ["a"], "id": [1]}
            with pytest.raises(ForbiddenStatementError, match="only read"):
                t.sql("DELETE FROM notes")

    async def test_wait_and_handle_give_how_a_job_ended(self) -> None:
        async with TestApp(sample()) as t:
            made = [await t.run_mutation("schedule", name) for name in ("add", "fail", "send")]
            await t.run_due_jobs()
            t.cancel(made[2])
            await t.advance_time(timedelta(minutes=1))

            done, failed = await t.wait(made[0]), await t.wait(made[1])
            assert isinstance(done, Succeeded)
            assert isinstance(done.value, int)
            assert isinstance(failed, Failed)
            assert failed.error.message == "no"
            handle = t.handle(made[2])
            assert (handle.id, handle.job.state) == (made[2], "canceled")
            assert await handle == Canceled()

    async def test_whoever_waits_is_told_when_the_job_ends(self) -> None:
        import anyio

        async with TestApp(sample()) as t:
            job = await t.run_mutation("schedule", "send")
            ended: list[object] = []

            async def wait() -> None:
                ended.append(await t.wait(job))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await t.advance_time(timedelta(seconds=30))
                assert ended == []
                await t.advance_time(timedelta(minutes=1))
            assert ended == [Succeeded("X")]

    @pytest.mark.parametrize("job", [999, -1, 2**70])
    async def test_an_unknown_job_is_told(self, job: int) -> None:
        unknown = JobId(job)
        async with TestApp(sample()) as t:
            for read in (t.job, t.handle):
                with pytest.raises(UnknownJobError, match=f"there is no job {job}"):
                    read(unknown)
            with pytest.raises(UnknownJobError):
                await t.wait(unknown)
