"""What a session's controls ask for: which jobs, in what order, which page."""

from datetime import UTC, datetime
from typing import get_args

from rxferrix_lab.domain.job import JobId, JobState
from rxferrix_lab.domain.zone import load_zone
from rxferrix_lab.reactive.controls import Controls
from rxferrix_lab.storage.job_search import ORDERS, JobPage, JobSearch, Order, Place

__all__ = ["JobPage", "JobSearch", "Order", "Place", "order_of", "place_of", "search_of"]

STATES: tuple[JobState, ...] = get_args(JobState)
LARGEST = 2**63


def search_of(controls: Controls) -> JobSearch:
    """The jobs that the controls ask for; a text of digits is an id."""
    text = controls.text.strip()
    is_id = text.isascii() and text.isdigit() and int(text) < LARGEST
    wanted = controls.states.split(",")
    states: tuple[JobState, ...] = tuple(state for state in STATES if state in wanted)
    return JobSearch(
        states=states or None,
        function=controls.function or None,
        pool=controls.pool or None,
        cron=controls.cron or None,
        text=text if text and not is_id else None,
        job=JobId(int(text)) if is_id else None,
        since=instant_in(controls.since, controls.zone),
        until=instant_in(controls.until, controls.zone),
    )


def order_of(controls: Controls) -> Order:
    """The order that the controls ask for."""
    by = controls.order.removeprefix("-")
    return Order(by, is_descending=controls.order.startswith("-")) if by in ORDERS else Order()


def place_of(controls: Controls) -> Place:
    """The page that the controls ask for."""
    if controls.at == "last":
        return Place("last")
    is_id = controls.at.isascii() and controls.at.isdigit() and int(controls.at) < LARGEST
    return Place("at", JobId(int(controls.at))) if is_id else Place()


def instant_in(text: str, zone: str) -> datetime | None:
    """The instant of a wall time in the zone; None where the text is empty or no time.

    >>> instant_in("2026-07-01 12:00", "Europe/Bucharest").isoformat()
    '2026-07-01T09:00:00+00:00'
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=load_zone(zone))
        return aware.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
