"""The sample app keeps what its docstrings say, in ten minutes of virtual time."""

import email
import subprocess
import sys
from collections.abc import AsyncIterator
from datetime import timedelta
from email import policy
from pathlib import Path

import pytest

from dashboard import demo
from dashboard.machine import Sample
from rxferrix_lab import JobId, TestApp

MINUTE = timedelta(minutes=1)


@pytest.fixture
def anyio_backend() -> str:
    """One event loop is enough here: that both give the same rows is tested elsewhere."""
    return "asyncio"


@pytest.fixture
async def t(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[TestApp]:
    monkeypatch.setattr(demo, "OUTBOX", tmp_path / "outbox")
    async with TestApp(demo.app) as t:
        yield t


def states(t: TestApp, function: str) -> dict[str, int]:
    """How many jobs of a function are in each state."""
    counts = t.jobs(function=function)["state"].value_counts()
    return {str(state): int(count) for state, count in counts.items()}


async def test_machine_is_sampled_every_three_seconds(t: TestApp) -> None:
    await t.advance_time(MINUTE)

    samples = t.sql("SELECT load, memory, disk FROM samples")
    assert len(samples) == 21
    assert samples["load"].ge(0).all()
    assert samples[["memory", "disk"]].gt(0).all(axis=None)
    assert samples[["memory", "disk"]].lt(1).all(axis=None)


async def test_each_mail_that_was_sent_is_a_file_that_a_mail_program_reads(t: TestApp) -> None:
    await t.advance_time(MINUTE)

    sent = t.jobs(function="send", state="succeeded")["result"]
    files = sorted(demo.OUTBOX.iterdir())
    assert [file.name for file in files] == sorted(sent)
    message = email.message_from_bytes(files[0].read_bytes(), policy=policy.default)
    assert message["To"] == "ana@localhost"
    assert message["Subject"].startswith("Load ")
    assert "memory" in message.get_content()


async def test_an_operator_sees_success_retry_failure_and_progress_within_a_minute(
    t: TestApp,
) -> None:
    seen = set[str]()
    for _ in range(60):
        await t.advance_time(timedelta(seconds=1))
        seen |= set(t.jobs()["state"])
        seen |= {"retrying"} if t.jobs(state="pending")["attempt"].gt(0).any() else set()

    assert {"pending", "retrying", "running", "succeeded", "failed"} <= seen


async def test_each_mail_has_one_outcome_once_its_job_has_ended(t: TestApp) -> None:
    await t.advance_time(MINUTE)
    await t.advance_time(timedelta(seconds=10))

    mails = t.sql("SELECT id, outcome FROM mails")
    ended = t.jobs(function="send", state=["succeeded", "failed"])
    assert len(mails) == 15
    assert mails["outcome"].notna().sum() == len(ended) == sum(states(t, "note").values())


async def test_no_two_mails_were_sent_within_the_pace_of_the_outbox(t: TestApp) -> None:
    await t.advance_time(MINUTE)

    sent = t.sql("SELECT sent_at FROM mails WHERE sent_at IS NOT NULL ORDER BY sent_at")["sent_at"]
    assert len(sent) > 5
    assert sent.diff().dropna().min() >= demo.PACE


async def test_watch_tells_its_progress_and_stops_when_canceled(t: TestApp) -> None:
    job: JobId = await t.scheduler.run_after(timedelta(0), demo.watch, seconds=1000)
    await t.advance_time(timedelta(seconds=5))

    assert t.cancel(job)
    await t.advance_time(timedelta(seconds=1))
    assert t.job(job).state == "canceled"
    [progress] = t.sql("SELECT progress FROM _execution_log WHERE job = $job", job=job)["progress"]
    assert '"total":1000' in progress


async def test_samples_older_than_an_hour_are_purged(t: TestApp) -> None:
    await t.advance_time(timedelta(seconds=30))
    before = t.sql("SELECT max(taken_at) AS last FROM samples")["last"][0]

    await t.restart(down_for=timedelta(hours=1))
    await t.advance_time(MINUTE)
    assert t.sql("SELECT min(taken_at) AS first FROM samples")["first"][0] > before


async def test_good_morning_is_at_nine_in_bucharest(t: TestApp) -> None:
    crons = t.sql("SELECT next_run_at FROM _crons WHERE name = 'good-morning'")

    assert crons["next_run_at"][0].tz_convert("Europe/Bucharest").isoformat() == (
        "2026-01-01T09:00:00+02:00"
    )


async def test_averages_without_samples_are_zero(t: TestApp) -> None:
    assert await t.run_query(demo.last_minute) == Sample(0, 0, 0)


def test_importing_the_sample_app_starts_nothing_and_writes_nothing(
    tmp_path: Path, checkout: Path
) -> None:
    program = "import threading; from dashboard import demo; print(threading.active_count())"
    printed = subprocess.run(
        [sys.executable, "-c", program],
        cwd=checkout,
        env={"RXFERRIX_DEMO_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout

    assert printed.strip() == "1"
    assert list(tmp_path.iterdir()) == []
