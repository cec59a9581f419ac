"""What a job's end is told as: a `WorkResult`, and the arguments of its `on_complete` mutation."""

import json

from rxferrix_lab.app.registry import Registry
from rxferrix_lab.app.work_results import encode_outcome
from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.domain.outcome import Canceled, Failed, JobError, Succeeded, WorkResult
from rxferrix_lab.errors import ResultError

_UNSAID = JobError("error", "Unknown", "the job failed without an error", "")


def outcome_of(job: JobRecord) -> Succeeded[str] | Failed | Canceled:
    """How a finished job ended; a success holds its result as JSON."""
    match job.state:
        case "succeeded":
            return Succeeded(job.result if job.result is not None else "null")
        case "canceled":
            return Canceled()
        case _:
            return Failed(job.error if job.error is not None else _UNSAID)


def completion_args(job: JobRecord) -> str:
    """The arguments as JSON, by the parameter names that the mutation had when the job was made.

    Put together from text that is JSON already, so the user's values are not decoded here.
    """
    work_id, context, result = json.loads(job.on_complete_names or "[]")
    members = (
        f"{json.dumps(work_id)}:{job.id:d}",
        f"{json.dumps(context)}:{job.on_complete_context}",
        f"{json.dumps(result)}:{encode_outcome(outcome_of(job))}",
    )
    return "{" + ",".join(members) + "}"


def work_result(job: JobRecord, registry: Registry) -> WorkResult[object]:
    """How a finished job ended, its result in its function's annotated type where it still fits."""
    outcome = outcome_of(job)
    if not isinstance(outcome, Succeeded):
        return outcome
    function = registry.functions.get(job.function)
    if function is not None:
        try:
            return Succeeded(function.signature.decode_result(outcome.value))
        except ResultError:
            pass  # the function's result has another type now; its JSON is still true
    return Succeeded(json.loads(outcome.value))
