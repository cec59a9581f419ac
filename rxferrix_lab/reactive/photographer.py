"""Takes pictures of a running app: asks the store and the engine, and sums up.

Used by one thread at a time. Reads only; what a picture costs is bounded by its own limits.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.domain.schedule import Schedule
from rxferrix_lab.domain.workpool import PoolRecord
from rxferrix_lab.engine.clock import SystemClock
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.reactive.picture import (
    CronPicture,
    CronRun,
    Health,
    NextRun,
    Overview,
    Picture,
    PoolPicture,
    PoolRun,
    PoolSample,
    Progress,
)
from rxferrix_lab.storage import statistics
from rxferrix_lab.storage.codec import CRONS, POOLS
from rxferrix_lab.storage.job_search import JobSearch
from rxferrix_lab.storage.scheduler_rows import load_all
from rxferrix_lab.storage.snapshot import Snapshot
from rxferrix_lab.storage.statistics import LaneCount, LogRow, LogSearch

NEWEST_JOBS = 100
NEWEST_LOG_ROWS = 300
STRIP = 60
NEXT_RUNS = 10
SAMPLES = 900
DAY = timedelta(days=1)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Tables:
    """The part of a picture that is wide, and so is taken less often."""

    jobs: tuple[JobRecord, ...]
    log: tuple[LogRow, ...]
    skips: tuple[LogRow, ...]
    cron_jobs: dict[str, list[JobRecord]]
    runs: dict[str | None, tuple[PoolRun, ...]]
    overview: Overview


class Photographer:
    """Knows one runtime, and remembers what need not be found out again."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._tables: Tables | None = None
        self._history: dict[str, deque[PoolSample]] = {}
        self._coming: dict[CronRecord, tuple[datetime, ...]] = {}

    def take(self, *, with_tables: bool) -> Picture:
        """The app as it is now; the wide part is as it was unless it is asked for.

        Raises:
            NotRunningError, duckdb.Error: where the store cannot be read.
        """
        return self._runtime.engine.store.lasting(lambda: self._take(with_tables=with_tables))

    def _take(self, *, with_tables: bool) -> Picture:
        engine = self._runtime.engine
        now, version = engine.clock.now(), engine.feed.version
        with engine.store.snapshot() as snapshot:
            counts = snapshot.ask(statistics.count_jobs, now)
            lanes = snapshot.ask(statistics.count_lanes, now)
            crons = snapshot.ask(load_all, CRONS)
            pools = snapshot.ask(load_all, POOLS)
            if with_tables or self._tables is None:
                self._tables = self._read_tables(snapshot, now)
        tables = self._tables
        pictured = tuple(self._cron(cron, tables) for cron in sorted(crons, key=_name))
        return Picture(
            version=version,
            now=now,
            is_virtual=not isinstance(engine.clock, SystemClock),
            counts=counts,
            jobs=tables.jobs,
            crons=pictured,
            pools=self._pools(pools, lanes, tables, now),
            log=tables.log,
            overview=replace(tables.overview, next_runs=_next_runs(pictured)),
            health=self._health(),
            progress=self._progress(),
            functions=frozenset(self._runtime.registry.functions),
        )

    def _read_tables(self, snapshot: Snapshot, now: datetime) -> Tables:
        skipped = LogSearch(outcome="skipped")
        return Tables(
            jobs=tuple(snapshot.find_jobs(JobSearch(), NEWEST_JOBS)),
            log=snapshot.ask(statistics.find_log, LogSearch(), NEWEST_LOG_ROWS),
            skips=snapshot.ask(statistics.find_log, skipped, NEWEST_LOG_ROWS),
            cron_jobs=snapshot.ask(statistics.latest_cron_jobs, STRIP),
            runs=snapshot.ask(statistics.latest_runs, now - HOUR),
            overview=_overview(snapshot, now),
        )

    # --- crons ----------------------------------------------------------------------------------
    def _cron(self, cron: CronRecord, tables: Tables) -> CronPicture:
        is_dormant = cron.name not in self._runtime.crons
        is_asleep = is_dormant or cron.paused
        return CronPicture(
            record=cron,
            words=_words(cron),
            schedule_text=_schedule_text(cron),
            next_runs=() if is_asleep else self._coming_runs(cron),
            is_dormant=is_dormant,
            strip=_strip(cron.name, tables),
        )

    def _coming_runs(self, cron: CronRecord) -> tuple[datetime, ...]:
        known = self._coming.get(cron)
        if known is None:
            if len(self._coming) > 2_000:
                self._coming.clear()
            known = self._coming[cron] = tuple(_instants(cron))
        return known

    # --- pools ----------------------------------------------------------------------------------
    def _pools(
        self,
        stored: Iterable[PoolRecord],
        lanes: dict[str | None, LaneCount],
        tables: Tables,
        now: datetime,
    ) -> tuple[PoolPicture, ...]:
        late = self._stragglers()
        in_use = {lane.key[1]: lane.in_use for lane in self._runtime.engine.lanes}
        found: list[PoolPicture] = []
        plain = self._runtime.engine.options.parallelism
        everywhere = sorted(stored, key=_name)
        for name in [*(pool.name for pool in everywhere), None]:
            pool = next((pool for pool in everywhere if pool.name == name), None)
            lane = lanes.get(name, LaneCount())
            slots = in_use.get(name, 0) if name is not None else self._plain_in_use()
            limit = pool.max_parallelism if pool else plain
            shown = name or ""
            found.append(
                PoolPicture(
                    name=shown,
                    is_plain=name is None,
                    is_declared=name is None or name in self._runtime.pools,
                    limit=limit,
                    declared=pool.declared_parallelism if pool else plain,
                    in_use=slots,
                    queued=lane.queued,
                    later=lane.later,
                    oldest_due_at=lane.oldest_due_at,
                    stragglers=tuple(late.get(name, ())),
                    history=self._sampled(shown, PoolSample(now, slots, lane.queued, limit)),
                    runs=tables.runs.get(name, ()),
                )
            )
        return tuple(found)

    def _plain_in_use(self) -> int:
        """The slots in use of the actions in no pool. Mutations, in no pool either, need none."""
        lanes = self._runtime.engine.lanes
        return sum(lane.in_use for lane in lanes if lane.key == ("action", None))

    def _stragglers(self) -> dict[str | None, list[JobId]]:
        found: dict[str | None, list[JobId]] = {}
        for attempt in tuple(self._runtime.engine.attempts.alive):
            if attempt.is_straggler and attempt.job is not None:
                found.setdefault(attempt.job.pool, []).append(attempt.job.id)
        return found

    def _sampled(self, pool: str, sample: PoolSample) -> tuple[PoolSample, ...]:
        history = self._history.setdefault(pool, deque(maxlen=SAMPLES))
        if history and sample.at - history[-1].at < SECOND:
            history[-1] = replace(sample, at=history[-1].at)
        else:
            history.append(sample)
        return tuple(history)

    # --- the engine -----------------------------------------------------------------------------
    def _health(self) -> Health:
        engine = self._runtime.engine
        lanes = [lane for lane in engine.lanes if lane.limit is not None]
        return Health(
            is_running=True,
            trouble=engine.trouble or "",
            database=str(engine.store.path),
            lateness_p50=engine.vitals.lateness(0.5),
            lateness_p99=engine.vitals.lateness(0.99),
            loop_lag_p99=engine.vitals.loop_lag(0.99),
            slots_in_use=sum(lane.in_use for lane in lanes),
            slots=sum(lane.limit or 0 for lane in lanes),
        )

    def _progress(self) -> tuple[Progress, ...]:
        return tuple(
            Progress(attempt.job.id, attempt.progress or "", "".join(attempt.output)[-20_000:])
            for attempt in tuple(self._runtime.engine.attempts.alive)[:1_000]
            if attempt.job is not None and (attempt.progress or attempt.output)
        )


def _name(named: CronRecord | PoolRecord) -> str:
    return named.name


def _overview(snapshot: Snapshot, now: datetime) -> Overview:
    day = snapshot.ask(statistics.throughput, now - DAY, DAY)
    return Overview(
        succeeded=sum(bucket.succeeded for bucket in day),
        failed=sum(bucket.failed for bucket in day),
        canceled=sum(bucket.canceled for bucket in day),
        throughput=snapshot.ask(statistics.throughput, now - HOUR, MINUTE),
        bucket=MINUTE,
        failures=snapshot.ask(statistics.failures, now - DAY),
    )


def _next_runs(crons: Iterable[CronPicture]) -> tuple[NextRun, ...]:
    coming = [NextRun(cron.record.name, at, cron.words) for cron in crons for at in cron.next_runs]
    return tuple(sorted(coming, key=lambda run: (run.at, run.cron))[:NEXT_RUNS])


def _schedule(cron: CronRecord) -> Schedule | None:
    try:
        return cron.schedule()
    except RxFerrixError:  # its row was damaged, or its zone is gone
        return None


def _instants(cron: CronRecord) -> Iterable[datetime]:
    schedule, at = _schedule(cron), cron.next_run_at
    for _ in range(NEXT_RUNS):
        if schedule is None or at is None:
            return
        yield at
        at = schedule.next_instant(at)


def _words(cron: CronRecord) -> str:
    schedule = _schedule(cron)
    return schedule.words() if schedule is not None else "a schedule that cannot be read"


def _schedule_text(cron: CronRecord) -> str:
    if cron.every_us is not None:
        return f"every {timedelta(microseconds=cron.every_us)}"
    return cron.expr or ""


def _strip(name: str, tables: Tables) -> tuple[CronRun, ...]:
    runs = [_run_of(job) for job in tables.cron_jobs.get(name, ())]
    runs += [
        CronRun(row.entry.started_at, None, "skipped", detail=row.entry.detail or "")
        for row in tables.skips
        if (row.entry.detail or "").startswith(f"{name}: ")
    ]
    return tuple(sorted(runs, key=lambda run: run.at)[-STRIP:])


def _run_of(job: JobRecord) -> CronRun:
    took = job.finished_at - job.started_at if job.finished_at and job.started_at else None
    return CronRun(job.scheduled_for, job.id, job.state, job.missed, took=took)
