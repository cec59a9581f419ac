"""One row of the execution log as text: a line, and what it hides until it is opened. Pure."""

import json
from typing import Any

from rxferrix_lab.domain.log_entry import LogEntry
from rxferrix_lab.domain.outcome import JobError
from rxferrix_lab.reactive.picture import LogRow
from rxferrix_lab.views import labels

_LONGEST = 20_000  # characters of output that reach the page


def line(row: LogRow, zone: str) -> dict[str, Any]:
    """The row as the list shows it."""
    entry = row.entry
    return {
        "id": str(row.id),
        "when": labels.instant(entry.finished_at, zone),
        "outcome": entry.outcome,
        "function": _function(entry),
        "who": _who(entry),
        "took": _took(entry),
        "note": _note(entry),
        "job": str(entry.job) if entry.job is not None else "",
        "more": bool(hidden(row, zone)) or entry.job is not None,
    }


def hidden(row: LogRow, zone: str) -> list[list[str]]:
    """Titles and texts that an opened row shows."""
    entry = row.entry
    texts: list[list[str]] = []
    if entry.detail:
        texts.append(["Why" if entry.outcome == "skipped" else "What was done", entry.detail])
    if entry.error is not None:
        # A traceback ends with the exception; where none was raised there is the message alone.
        texts.append(["Error", _cut(entry.error.traceback or _said(entry.error))])
    if entry.output:
        texts.append(["Output", _cut(entry.output)])
    if entry.progress:
        texts.append(["Progress", _progress(entry.progress)])
    if texts or entry.job is not None:
        began = labels.full_instant(entry.started_at, zone)
        texts.append(
            ["Began and ended", f"{began} – {labels.full_instant(entry.finished_at, zone)}"]
        )
    return texts


def _function(entry: LogEntry) -> str:
    parts = [entry.function]
    if entry.job is not None:
        parts.append(f"job {entry.job}")
    if entry.attempt > 1:
        parts.append(f"attempt {entry.attempt}")
    return " · ".join(parts)


def _who(entry: LogEntry) -> str:
    return f"{entry.caller} · {entry.identity}" if entry.identity else entry.caller


def _took(entry: LogEntry) -> str:
    if entry.outcome == "skipped" or entry.kind is None:
        return ""
    return labels.duration(entry.finished_at - entry.started_at)


def _note(entry: LogEntry) -> str:
    if entry.error is not None:
        return labels.short(_said(entry.error), 160)
    return labels.short(entry.detail or entry.output or "", 200)


def _said(error: JobError) -> str:
    return f"{error.type or error.kind}: {error.message}".strip(": ")


def _progress(told: str) -> str:
    try:
        return json.dumps(json.loads(told), ensure_ascii=False)
    except ValueError:
        return told


def _cut(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]}\n… {labels.number(len(text) - _LONGEST)} more characters"
