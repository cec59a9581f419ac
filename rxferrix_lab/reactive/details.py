"""One job with everything around it, and why it has not run yet."""

from datetime import datetime

from rxferrix_lab.app.runtime import Runtime
from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.engine.lanes import lane_of
from rxferrix_lab.reactive.picture import JobDetails
from rxferrix_lab.storage import statistics
from rxferrix_lab.storage.snapshot import Snapshot
from rxferrix_lab.storage.statistics import LogSearch

MOST_ATTEMPTS = 200


def details_of(snapshot: Snapshot, runtime: Runtime, job: JobId) -> JobDetails | None:
    """The job, or None where there is none."""
    record = snapshot.job(job)
    if record is None:
        return None
    executions = snapshot.ask(statistics.find_log, LogSearch(job=job), MOST_ATTEMPTS)
    return JobDetails(
        job=record,
        executions=executions[::-1],
        parent=snapshot.job(record.parent) if record.parent is not None else None,
        completion=snapshot.job(record.completion) if record.completion is not None else None,
        children=snapshot.ask(statistics.children_of, job),
        usual=snapshot.ask(statistics.usual_durations, record.function),
        why=why_waiting(runtime, record, runtime.engine.clock.now()),
    )


def why_waiting(runtime: Runtime, job: JobRecord, now: datetime) -> str:
    """Why a pending job has not run, in a sentence; empty for any other."""
    if job.state != "pending":
        return ""
    if job.function not in runtime.registry.functions:
        return (
            f"The function {job.function} is not registered: the job waits a minute for its cell."
            if runtime.is_interactive
            else f"The function {job.function} is not registered: the job fails in its turn."
        )
    if job.due_at > now:
        is_retry = job.attempt > 0
        return (
            f"It waits for attempt {job.attempt + 1} of {job.max_attempts}; the last one failed."
            if is_retry
            else "Its time has not come."
        )
    lane = next((lane for lane in runtime.engine.lanes if lane.key == lane_of(job)), None)
    if lane is None or lane.limit is None:
        return "It is due and next in line."
    where = f"the pool {job.pool}" if job.pool is not None else "the actions in no pool"
    if lane.limit == 0:
        return f"It is due, and {where} is paused (0 slots)."
    if lane.in_use >= lane.limit:
        return f"It is due, and all {lane.limit} slots of {where} are taken."
    return "It is due and next in line."
