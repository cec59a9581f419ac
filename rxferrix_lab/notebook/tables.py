"""What an app has, as tables: crons, pools, what comes, and how it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rxferrix_lab.domain.cron import CronSchedule
from rxferrix_lab.domain.occurrence import Occurrence
from rxferrix_lab.domain.schedule import Interval
from rxferrix_lab.domain.workpool import Workpool
from rxferrix_lab.notebook.table import Table
from rxferrix_lab.views.labels import ago, full_instant, instant

if TYPE_CHECKING:
    from rxferrix_lab.app.app import RxFerrix
    from rxferrix_lab.reactive.picture import CronPicture, PoolPicture

MOST_ROWS = 60


def status_table(app: RxFerrix) -> Table:
    """How a running app is."""
    model = app.model()
    counts, names = model.counts, sorted(app.registry.functions)
    unfinished = counts.pending + counts.running + counts.canceling
    virtual = " (virtual: it stands until it is moved)" if model.is_virtual else ""
    upcoming = [f"{run.cron} {ago(run.at, model.now)}" for run in model.overview.next_runs[:3]]
    jobs = (
        f"{unfinished} unfinished, {counts.running} of them running; "
        f"{counts.succeeded} succeeded, {counts.failed} failed"
    )
    rows = [
        ("database", str(app.database)),
        ("time", f"{full_instant(model.now, 'UTC')}{virtual}"),
        ("jobs", jobs),
        ("functions", ", ".join(names) or "none yet: write one with %%mutation or %%action"),
        ("next runs", "; ".join(upcoming) or "no cron or interval yet"),
    ]  # fmt: skip
    return Table("running", ("", ""), rows)


def crons_table(pictures: Sequence[CronPicture], now: datetime) -> Table:
    """The crons and intervals."""
    columns = ("name", "schedule", "function", "next run", "", "last run", "counts")
    rows = [_cron_row(picture, now) for picture in pictures]
    hint = "none yet: app.cron_tz(name, expr, zone, fn), or --cron, --every on a cell"
    return Table("crons and intervals", columns, rows, hint)


def _cron_row(picture: CronPicture, now: datetime) -> tuple[str, ...]:
    record, zone = picture.record, picture.record.zone or "UTC"
    upcoming = picture.next_runs[0] if picture.next_runs else None
    if record.paused:
        following = "paused"
    elif picture.is_dormant:
        following = "waits until a cell declares it again"
    else:
        following = full_instant(upcoming, zone)
    last = picture.strip[-1] if picture.strip else None
    counts = f"{record.runs} run, {record.skipped} skipped, {record.missed} missed"
    return (
        record.name,
        picture.words,
        record.function,
        following,
        ago(upcoming, now) if upcoming else "",
        f"{last.outcome} {ago(last.at, now)}" if last else "never",
        counts,
    )


def pools_table(pictures: Sequence[PoolPicture]) -> Table:
    """The pools, and the slots of actions in none."""
    columns = ("pool", "slots in use", "wait for a slot", "wait for their time")
    rows = [
        (
            "(no pool)" if picture.is_plain else picture.name,
            f"{picture.in_use} of {picture.limit}",
            str(picture.queued),
            str(picture.later),
        )
        for picture in pictures
    ]
    return Table("workpools", columns, rows)


def timeline_table(
    name: str, schedule: CronSchedule | Interval, zone: str, after: datetime, days: float
) -> Table:
    """The coming runs of a schedule, on the wall of a zone and in UTC."""
    runs = schedule.occurrences(after, after + timedelta(days=days))
    rows = [occurrence_row(run, zone) for run in runs[:MOST_ROWS]]
    caption = f"{name}: {schedule.words()}, {len(runs)} in {days:g} days"
    if len(runs) > MOST_ROWS:
        caption += f", the first {MOST_ROWS} of them"
    columns = ("runs at", "in UTC", "names", "note")
    return Table(caption, columns, rows, "nothing in these days; look further with --days")


def occurrence_row(run: Occurrence, zone: str) -> tuple[str, str, str, str]:
    """One run: on the wall, in UTC, the wall time that is named, and what a change did."""
    return (
        full_instant(run.instant, zone),
        instant(run.instant, "UTC"),
        f"{run.wall:%a %H:%M:%S}",
        run.note,
    )


def schedule_table(schedule: CronSchedule) -> Table:
    """A schedule in words."""
    return Table(f"{schedule.expr} {schedule.zone}", ("in words",), [(schedule.words(),)])


def occurrence_text(run: Occurrence) -> str:
    """One run in a line."""
    note = f", {run.note}" if run.note else ""
    return f"{run.instant.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC (names {run.wall:%H:%M:%S}{note})"


def pool_text(pool: Workpool) -> str:
    """A declaration of a pool in a line."""
    return f"workpool {pool.name}: {pool.max_parallelism} at once, {pool.retries} retries"
