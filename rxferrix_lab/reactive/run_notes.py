"""What a clock change did to a run that a cron has made."""

from datetime import timedelta

from rxferrix_lab.domain.job import JobRecord
from rxferrix_lab.domain.occurrence import Occurrence
from rxferrix_lab.errors import RxFerrixError
from rxferrix_lab.reactive.picture import CronPicture


def occurrence_of(job: JobRecord, crons: tuple[CronPicture, ...]) -> Occurrence | None:
    """The occurrence that became this job; None where no cron made it, or it is gone."""
    for picture in crons:
        if picture.record.name != job.cron:
            continue
        asked = job.scheduled_for
        try:
            found = picture.record.schedule().occurrences(asked - timedelta(microseconds=1), asked)
        except RxFerrixError:  # a stored schedule that is none any more: its page says so
            return None
        return found[-1] if found else None
    return None
