"""Rows of the scheduler's tables to records and back.

Instants travel as microseconds since 1970 when read, because a TIMESTAMPTZ costs ten times as much
to fetch, and as aware datetimes when written.
"""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Any, Generic, TypeVar

from rxferrix_lab.domain.cron_record import CronRecord
from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.domain.workpool import PoolRecord

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
R = TypeVar("R")
Row = tuple[Any, ...]  # one fetched row: DuckDB types it, we cannot


def instant_of(microseconds: int) -> datetime:
    """The UTC instant `microseconds` after 1970."""
    return EPOCH + timedelta(microseconds=microseconds)


def encode_error(error: JobError) -> str:
    """The error as JSON text."""
    return json.dumps(
        {
            "kind": error.kind,
            "type": error.type,
            "message": error.message,
            "traceback": error.traceback,
        }
    )


def decode_error(text: str) -> JobError:
    """The error that `encode_error` wrote."""
    return JobError(**json.loads(text))


@dataclass(frozen=True)
class TableCodec(Generic[R]):
    """Carries one record class to its table: same names, instants and errors converted."""

    table: str
    record: Callable[..., R]
    columns: tuple[str, ...]
    instants: tuple[int, ...]  # positions of TIMESTAMPTZ columns
    errors: tuple[int, ...]  # positions of JSON errors

    @property
    def select_list(self) -> str:
        """The columns as SELECT reads them."""
        return ", ".join(
            f'epoch_us("{name}")' if at in self.instants else f'"{name}"'
            for at, name in enumerate(self.columns)
        )

    def decode(self, rows: Iterable[Row]) -> list[R]:
        """The records of fetched rows."""
        return [self._record_of(row) for row in rows]

    def encode(self, record: R) -> list[Any]:
        """The values of the record, in the order of `columns`."""
        values = list(self._values(record))
        for at in self.errors:
            if values[at] is not None:
                values[at] = encode_error(values[at])
        return values

    @property
    def _values(self) -> Callable[[R], Row]:
        return _GETTERS[self.table]

    def _record_of(self, row: Row) -> R:
        values = list(row)
        for at in self.instants:
            if values[at] is not None:
                values[at] = instant_of(values[at])
        for at in self.errors:
            if values[at] is not None:
                values[at] = decode_error(values[at])
        return self.record(*values)


def _codec(table: str, record: type[R]) -> TableCodec[R]:
    columns = tuple(field.name for field in fields(record))  # type: ignore[arg-type]  # dataclasses
    return TableCodec(
        table=table,
        record=record,
        columns=columns,
        instants=tuple(at for at, name in enumerate(columns) if _is_instant(name)),
        errors=tuple(at for at, name in enumerate(columns) if name == "error"),
    )


def _is_instant(column: str) -> bool:
    return column.endswith("_at") or column in ("scheduled_for", "anchor", "seen_until")


JOBS = _codec("_scheduled_jobs", JobRecord)
CRONS = _codec("_crons", CronRecord)
POOLS = _codec("_workpools", PoolRecord)
LOG = _codec("_execution_log", LogEntry)
_GETTERS: dict[str, Callable[[Any], Row]] = {
    codec.table: attrgetter(*codec.columns) for codec in (JOBS, CRONS, POOLS, LOG)
}

# What an event can change of a job; all else is fixed when it is made.
CHANGING = (
    "state", "due_at", "started_at", "finished_at", "cancel_requested_at", "attempt",
    "completion", "result", "error",
)  # fmt: skip
_changing_values = attrgetter("id", *CHANGING)
_ERROR_AT = CHANGING.index("error") + 1


def encode_change(job: JobRecord, revision: int) -> list[Any]:
    """The job's id, what may have changed of it, and the revision, for an update by id."""
    values = list(_changing_values(job))
    if job.error is not None:
        values[_ERROR_AT] = encode_error(job.error)
    values.append(revision)
    return values
