"""Operating verbs: who may, what is logged, and what stays as it was."""

from datetime import timedelta

import pytest

from rxferrix_lab import Identity, JobId, MutationCtx, RxFerrix, TestApp, Workpool
from rxferrix_lab.errors import (
    CronBusyError,
    NotRerunnableError,
    PermissionDeniedError,
    UnknownJobError,
    UnknownPoolError,
)

ANN = Identity("ann")
NOW = timedelta(0)


def sample() -> RxFerrix:
    app = RxFerrix().workpool(Workpool("emails", max_parallelism=1))

    @app.mutation
    def fail(ctx: MutationCtx, text: str) -> None:
        raise ValueError(text)

    return app.cron("digest", "0 0 9 * * *", fail, "x")


@pytest.mark.parametrize(
    ("verb", "args"),
    [
        ("cancel", (1,)),
        ("rerun", (1,)),
        ("cancel_pool", ("emails",)),
        ("run_cron_now", ("digest",)),
        ("pause_cron", ("digest",)),
        ("resume_cron", ("digest",)),
        ("remove_cron", ("digest",)),
        ("resize_pool", ("emails", 0)),
    ],
)
async def test_every_verb_refuses_a_viewer_and_changes_nothing(
    verb: str, args: tuple[object, ...]
) -> None:
    app = sample()
    async with TestApp(app) as t:
        before = t.sql("SELECT * FROM _crons").to_dict("list")
        with pytest.raises(PermissionDeniedError, match=f"ann may not {verb}"):
            getattr(t.as_user(ANN), verb)(*args)
        await t.reconcile()

        assert t.sql("SELECT * FROM _crons").to_dict("list") == before
        assert "digest" in app.registry.crons
        log = t.sql("SELECT function, outcome, identity FROM _execution_log")
        assert log.to_dict("list") == {
            "function": [f"_system/scheduler:{verb}"], "outcome": ["failed"], "identity": ["ann"],
        }  # fmt: skip


async def test_a_viewer_has_no_scheduler() -> None:
    async with TestApp(sample()) as t:
        with pytest.raises(PermissionDeniedError, match="ann may not schedule"):
            _ = t.as_user(ANN).scheduler


async def test_a_removed_cron_stays_away() -> None:
    async with TestApp(sample()) as t:
        t.remove_cron("digest")
        await t.reconcile()

        assert t.sql("SELECT * FROM _crons").empty


async def test_rerun_makes_a_new_job_like_the_old_one() -> None:
    app = sample()
    async with TestApp(app) as t:
        old = await t.scheduler.run_after(NOW, app.registry.functions["fail"], "no")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        with pytest.raises(NotRerunnableError, match="is pending"):
            t.rerun(old)
        await t.run_due_jobs()
        new = t.job(t.rerun(old))

        assert (new.function, new.args, new.trigger, new.parent, new.state) == (
            "fail", {"text": "no"}, "manual", old, "pending",
        )  # fmt: skip


async def test_what_does_not_exist_is_told() -> None:
    async with TestApp(sample()) as t:
        for verb in (t.cancel, t.rerun):
            with pytest.raises(UnknownJobError):
                verb(JobId(99))
        with pytest.raises(UnknownPoolError):
            t.cancel_pool("nope")
        with pytest.raises(UnknownPoolError):
            t.resize_pool("nope", 1)


async def test_a_verb_that_failed_changed_nothing_and_is_not_logged_as_done() -> None:
    async with TestApp(sample()) as t:
        t.run_cron_now("digest")
        with pytest.raises(CronBusyError):
            t.run_cron_now("digest")

        assert len(t.jobs()) == 1
        assert len(t.sql("SELECT * FROM _execution_log WHERE outcome = 'succeeded'")) == 1
