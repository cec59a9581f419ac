"""One DuckDB transaction that many requests share.

Each request writes into a layer of its own (`enter`, then `merge` or `drop`). Writes are held back
and sent through appenders before COMMIT, the scheduler's own rows last, their count checked:
COMMIT alone proves nothing. Used by the writer's thread only; decides no transition and reads no
clock.
"""

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime

import duckdb

from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.domain.workpool import PoolRecord
from rxferrix_lab.errors import StoreUnavailableError
from rxferrix_lab.storage import scheduler_rows
from rxferrix_lab.storage.catalog import Catalog
from rxferrix_lab.storage.codec import CRONS, JOBS, POOLS
from rxferrix_lab.storage.declared_table import make_table
from rxferrix_lab.storage.ids import IdSequence, is_id
from rxferrix_lab.storage.layer import Layer
from rxferrix_lab.storage.recent_jobs import RecentJobs

OCCURRENCES = ("cron", "catch_up")  # triggers of the jobs that occurrences became
Sequences = dict[str, IdSequence]


class Transaction:
    """An open transaction. `base` holds what merged requests owe.

    `layer` what the current one does.
    """

    def __init__(
        self,
        connection: duckdb.DuckDBPyConnection,
        catalog: Catalog,
        sequences: Sequences,
        recent: RecentJobs,
        revision: int,
    ) -> None:
        self.connection = connection
        self.catalog = catalog
        self.sequences = sequences
        self.revision = revision
        self.base = Layer()
        self.layer = self.base
        self._recent = recent
        self._loaded: dict[JobId, JobRecord] = {}
        self._crons: dict[str, CronRecord] | None = None  # as the database has them; null: unread
        self._marks: dict[str, int] = {}
        self._log_ids: list[int] = []
        self._uncounted: set[JobId] = set()
        connection.execute("BEGIN TRANSACTION")

    # --- layers ---------------------------------------------------------------------------------
    def enter(self) -> None:
        """Begin a request's layer."""
        self.layer = Layer()

    def merge(self) -> None:
        """Keep what the request wrote."""
        if self.layer is not self.base:
            self.base.absorb(self.layer)
            self.layer = self.base

    def drop(self) -> bool:
        """Undo the request; False where something of it reached the database already."""
        was_held_back = not self.layer.was_sent and self.layer.broken is None
        self.layer = self.base
        return was_held_back

    # --- the scheduler's rows -------------------------------------------------------------------
    def prefetch(self, ids: Iterable[JobId]) -> None:
        """Read many jobs with one statement."""
        wanted = [job for job in ids if job not in self._loaded and self._recent.get(job) is None]
        for job in scheduler_rows.load_jobs(self.connection, wanted):
            self._loaded[job.id] = job

    def job(self, job: JobId) -> JobRecord | None:
        """The job as this transaction sees it; None also for what is no id at all."""
        key: object = job
        if not is_id(key):
            return None
        found = (
            self.layer.jobs.get(job)
            or self.base.jobs.get(job)
            or self._recent.get(job)
            or self._loaded.get(job)
        )
        if found is None:
            self.prefetch([job])
            found = self._loaded.get(job)
        return found

    def add_job(self, job: JobRecord) -> None:
        """Make a job."""
        self.layer.add(job)

    def save_job(self, job: JobRecord) -> None:
        """Write a job as it is now."""
        self.layer.save(job, self.base)

    def jobs_where(self, **columns: str) -> list[JobRecord]:
        """Unfinished jobs whose columns (function, pool, cron, state) have these values."""
        self.send_scheduler_rows()
        return scheduler_rows.unfinished_jobs(self.connection, columns)

    def pending_lanes(self) -> list[tuple[str, str | None]]:
        """The (kind, pool) pairs that pending jobs have."""
        self.send_scheduler_rows()
        return scheduler_rows.pending_lanes(self.connection)

    def create_table(self, name: str, columns: str) -> None:
        """Make a user's table with a BIGINT id, where there is none of that name.

        Raises:
            TableError: if the columns make no table.
        """
        if self.catalog.plain_tables(frozenset({name.lower()})):
            return
        make_table(self.connection, name, columns)
        self.layer.was_sent = True
        self.layer.tables.add(name.lower())
        self.catalog.forget()

    def has_occurrence(self, cron: str, occurrence: datetime) -> bool:
        """Whether the occurrence became a job already."""
        return any(
            job.cron == cron and job.scheduled_for == occurrence and job.trigger in OCCURRENCES
            for layer in (self.base, self.layer)
            for job in layer.jobs.values()
        ) or scheduler_rows.has_occurrence(self.connection, cron, occurrence)

    def log(self, entry: LogEntry) -> None:
        """Add a row to the execution log."""
        self.layer.log.append(entry)

    def crons(self) -> dict[str, CronRecord]:
        """Every stored cron and interval, by name."""
        if self._crons is None:
            stored = scheduler_rows.load_all(self.connection, CRONS)
            self._crons = {cron.name: cron for cron in stored}
        found: dict[str, CronRecord | None] = dict(self._crons)
        found |= self.base.crons
        found |= self.layer.crons
        return {name: cron for name, cron in found.items() if cron is not None}

    def save_cron(self, name: str, cron: CronRecord | None) -> None:
        """Write a cron as it is now; None removes it."""
        self.layer.crons[name] = cron

    def pools(self) -> dict[str, PoolRecord]:
        """Every stored pool, by name."""
        stored = scheduler_rows.load_all(self.connection, POOLS)
        found: dict[str, PoolRecord | None] = {pool.name: pool for pool in stored}
        found |= self.base.pools
        found |= self.layer.pools
        return {name: pool for name, pool in found.items() if pool is not None}

    def save_pool(self, name: str, pool: PoolRecord | None) -> None:
        """Write a pool as it is now; None removes it."""
        self.layer.pools[name] = pool

    def draw_job_id(self) -> JobId:
        """An id that no job ever had."""
        return JobId(self.sequence(JOBS.table).draw())

    def sequence(self, table: str) -> IdSequence:
        """The ids of a table."""
        return self.sequences.setdefault(table, IdSequence())

    def expire(self, ended_before: datetime, most: int) -> int:
        """Delete jobs and log rows that ended before; returns how many rows went."""
        self.send_scheduler_rows()
        self.layer.was_sent = True
        gone = scheduler_rows.expire(self.connection, ended_before, most)
        self.layer.tables |= {JOBS.table, "_execution_log"} if gone else set()
        return gone

    def oldest_end(self) -> datetime | None:
        """When the first row ended, of those that may be deleted; None where there is none."""
        return scheduler_rows.oldest_end(self.connection)

    def holds_expired(self, ended_before: datetime) -> bool:
        """Whether rows that ended before are kept, because an unfinished job refers to them."""
        return scheduler_rows.holds_expired(self.connection, ended_before)

    # --- the end --------------------------------------------------------------------------------
    def send_scheduler_rows(self) -> None:
        """Write what is held back of the scheduler's rows, so that a statement can read it."""
        if self.base.crons or self.layer.crons:
            self._crons = None
        for layer in (self.base, self.layer):
            has_sent = scheduler_rows.send(self, layer)
            layer.was_sent = layer.was_sent or has_sent

    def finish(self) -> frozenset[str]:
        """Send everything, check it and commit; returns the tables that changed.

        Raises:
            RowConflictError: if a buffered write of the user's does not fit; nothing is committed.
            duckdb.Error: as the database says; whether it is durable is known from `was_committed`.
        """
        for rows in self.base.rows.values():
            if not rows.is_empty:
                rows.write(self.connection)
        self._advance_marks()
        scheduler_rows.send(self, self.base)
        self._check_count()
        self.connection.execute("COMMIT")
        for table, mark in self._marks.items():
            self.sequences[table].durable = mark
        self._recent.note(self.base.jobs.values())
        return self._changed_tables()

    def rollback(self) -> None:
        """Undo everything; harmless where the database has undone it already."""
        with suppress(duckdb.TransactionException):  # a failed COMMIT has ended it already
            self.connection.execute("ROLLBACK")
        self.catalog.forget()

    def note_uncounted(self, jobs: Iterable[JobId]) -> None:
        """Remember jobs whose update said nothing of its success."""
        self._uncounted.update(jobs)

    def note_log_ids(self, ids: list[int]) -> None:
        """Remember the ids of log rows that were sent: they prove the commit."""
        self._log_ids.extend(ids)

    @property
    def witness(self) -> tuple[str, int, int] | None:
        """A row that exists if and only if this transaction is durable: table, id, revision."""
        if self._log_ids:
            return ("_execution_log", self._log_ids[-1], 0)
        for job in self.base.jobs:
            return (JOBS.table, job, self.revision)
        return None

    def _advance_marks(self) -> None:
        log_rows = len(self.base.log)
        for table, ids in self.sequences.items():
            ahead = log_rows if table == "_execution_log" else 0
            if ids.next_id + ahead > ids.durable:
                mark = ids.next_mark(ahead)
                scheduler_rows.save_mark(self.connection, table, mark)
                self._marks[table] = mark

    def _check_count(self) -> None:
        saved = self._uncounted
        if not saved:
            return
        found = scheduler_rows.count_revision(self.connection, saved, self.revision)
        if found != len(saved):
            raise StoreUnavailableError(
                f"the store wrote {found} of {len(saved)} job rows; the transaction was not "
                "committed"
            )

    def _changed_tables(self) -> frozenset[str]:
        changed = set(self.base.tables) | set(self.base.rows)
        changed |= {"_scheduled_jobs"} if self.base.jobs else set()
        changed |= {"_execution_log"} if self._log_ids else set()
        changed |= {"_crons"} if self.base.crons else set()
        changed |= {"_workpools"} if self.base.pools else set()
        return frozenset(table.lower() for table in changed)
