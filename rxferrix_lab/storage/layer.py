"""What one request of a transaction has written and not yet sent to the database.

A request that fails before it sent anything is undone by dropping its layer; one that ends well is
merged into the layer below, which belongs to the whole transaction.
"""

from dataclasses import dataclass, field

from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.domain.workpool import PoolRecord
from rxferrix_lab.storage.buffered_rows import BufferedRows


@dataclass(slots=True)
class Layer:
    """Writes held back. Owned by the transaction that made it."""

    jobs: dict[JobId, JobRecord] = field(default_factory=dict)  # as they are now, sent or not
    inserts: dict[JobId, JobRecord] = field(default_factory=dict)
    updates: dict[JobId, JobRecord] = field(default_factory=dict)
    log: list[LogEntry] = field(default_factory=list)
    crons: dict[str, CronRecord | None] = field(default_factory=dict)  # None: removed
    pools: dict[str, PoolRecord | None] = field(default_factory=dict)
    rows: dict[str, BufferedRows] = field(default_factory=dict)
    tables: set[str] = field(default_factory=set)  # written, in lower case
    writes_through: bool = False  # rows are sent one by one, in the order of the verbs
    was_sent: bool = False  # something of this layer reached the database
    broken: Exception | None = None  # a database error: the transaction is lost

    def save(self, job: JobRecord, below: "Layer | None" = None) -> None:
        """Hold back a job as it is now; an insert that was not sent stays an insert."""
        self.jobs[job.id] = job
        if job.id in self.inserts or (below is not None and job.id in below.inserts):
            self.inserts[job.id] = job
        else:
            self.updates[job.id] = job

    def add(self, job: JobRecord) -> None:
        """Hold back a new job."""
        self.jobs[job.id] = job
        self.inserts[job.id] = job

    def absorb(self, later: "Layer") -> None:
        """Take over all that a later layer holds."""
        self.jobs.update(later.jobs)
        self.inserts.update(later.inserts)
        self.updates.update(later.updates)
        self.log.extend(later.log)
        self.crons.update(later.crons)
        self.pools.update(later.pools)
        self.tables |= later.tables
        for table, rows in later.rows.items():
            mine = self.rows.get(table)
            if mine is None:
                self.rows[table] = rows
            else:
                mine.absorb(rows)
