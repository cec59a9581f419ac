"""Everything that writes, in groups.

Requests wait in line; whatever waits becomes one transaction, committed once, and each is answered
after COMMIT. A request that fails is undone alone: from memory where it sent nothing, else the
group is rolled back, what came before it is run again, and it is run by itself, for only a verdict
given alone counts. So bodies may run more than once, and their effects land exactly once, in
order.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from rxferrix_lab.domain.job import JobId, JobRecord
from rxferrix_lab.engine.clock import stopwatch_s
from rxferrix_lab.engine.group import Group, batches_of
from rxferrix_lab.errors import StoreUnavailableError
from rxferrix_lab.storage.buffered_rows import RowConflictError
from rxferrix_lab.storage.connection import is_fatal, is_transient
from rxferrix_lab.storage.store import DatabaseError, OutOfMemory, Store
from rxferrix_lab.storage.transaction import Transaction

LARGEST_GROUP = 2048
LONGEST_GROUP_S = 0.15
MOST_REOPENS = 3
MOST_CRASHES = 2
EVERYTHING = frozenset({"*"})  # the tables of a commit that was found durable after the fact


@dataclass(frozen=True, slots=True)
class Answer:
    """What became of a request: a value, or the error that undid it."""

    value: object = None
    error: BaseException | None = None


@dataclass(slots=True, eq=False)
class Request:
    """A body to run inside a transaction.

    `done` is called after COMMIT on the writer's thread, `landed` on the engine's loop. `failed`
    records a failure in a layer of its own. `persists` marks the scheduler's own requests: where
    the disk is full they wait, while a caller's is told at once.
    """

    body: Callable[[Transaction], object]
    failed: Callable[[Transaction, BaseException], None] | None = None
    done: Callable[[Answer], None] | None = None
    landed: Callable[[Answer], None] | None = None
    jobs: tuple[JobId, ...] = ()
    persists: bool = False
    outside: Callable[[Store], object] | None = None  # run between transactions, not the body
    is_record: bool = False  # records the failure of another request
    crashes: int = 0  # how often the database was lost while the body ran
    writes_through: bool = False  # its rows are sent one by one: held back, they were refused


@dataclass(frozen=True, slots=True)
class Change:
    """A commit: its number, and the tables it wrote, in lower case."""

    version: int
    tables: frozenset[str]


@dataclass(frozen=True, slots=True)
class Commit:
    """What a group did."""

    change: Change
    jobs: tuple[JobRecord, ...]
    answers: tuple[tuple[Request, Answer], ...]


class Unwritable(Exception):  # noqa: N818  # a signal between two methods, never seen outside
    """The group could not be written now; what persists waits, the rest was told."""

    def __init__(self, waiting: list[Request], error: Exception) -> None:
        super().__init__(str(error))
        self.waiting = waiting
        self.error = error


class Writer:
    """Runs groups of requests on the thread that calls it."""

    def __init__(self, store: Store, committed: Callable[[Commit], None]) -> None:
        self._store = store
        self._committed = committed
        self._version = 0
        self._limit = LARGEST_GROUP
        self.commits = 0
        self.reopens = 0
        self.is_in_body = False
        self._doubt: Group | None = None  # set while nobody knows whether it is durable

    @property
    def group_limit(self) -> int:
        """How many requests the next group takes at the most.

        Halved for a while after a rollback.
        """
        return self._limit

    def run(self, requests: Sequence[Request]) -> None:
        """Run the requests in order, in as few transactions as possible.

        Raises:
            Unwritable: where the database cannot be written now; says what still has to be run.
        """
        ahead = deque(batches_of(requests))
        reopens = 0
        while ahead:
            batch = ahead.popleft()
            if not batch:
                continue
            if batch[0].outside is not None:
                self._run_outside(batch[0], batch[0].outside)
                continue
            group = Group(batch)
            try:
                if not self._store.is_open:
                    self._store.reopen()
                if self._doubt is not None:
                    group.batch = batch = self._settle_doubt(self._doubt, batch)
                left = self._try(group)
            except (DatabaseError, StoreUnavailableError, OSError) as error:
                reopens += 1
                left = self._recover(group, ahead, error, reopens)
            # Outside the try: what goes wrong after COMMIT must never run the group again.
            self._publish(group)
            ahead.extendleft(reversed(left))

    def _run_outside(self, request: Request, work: Callable[[Store], object]) -> None:
        try:
            answer = Answer(work(self._store))
        except Exception as error:  # noqa: BLE001  # carried to whoever asked
            answer = Answer(error=error)
        if request.done is not None:
            request.done(answer)

    def _recover(
        self, group: Group, ahead: deque[list[Request]], error: Exception, reopens: int
    ) -> list[list[Request]]:
        """After an error of the store itself.

        Open again where that can help, else give up for now.
        """
        everything = [*group.batch, *(request for batch in ahead for request in batch)]
        if not is_fatal(error) or reopens > MOST_REOPENS:
            self._roll_back(group)
            self._give_up(everything, error)
        try:
            return self._after_fatal(group, error)
        except (DatabaseError, StoreUnavailableError, OSError) as again:
            if group.suspect is None and group.transaction is not None:
                self._doubt = group
            self._give_up(everything, again)

    def _settle_doubt(self, doubt: Group, batch: list[Request]) -> list[Request]:
        """A group's COMMIT failed and nothing could be opened to look; now it can.

        Returns what of the batch still has to be run.
        """
        witness = doubt.open_transaction.witness
        is_durable = witness is not None and self._store.was_committed(witness)
        self._doubt = None
        if not is_durable:
            return batch
        doubt.changed = EVERYTHING
        self._publish(doubt)
        answered = {id(request) for request, _ in doubt.answers}
        return [request for request in batch if id(request) not in answered]

    def _roll_back(self, group: Group) -> None:
        """Undo what can be undone; an instance that is lost has undone it, and is opened again."""
        try:
            if group.transaction is not None and self._store.is_open:
                group.transaction.rollback()
        except DatabaseError:
            self._store.disconnect()

    # --- one transaction ------------------------------------------------------------------------
    def _try(self, group: Group) -> list[list[Request]]:
        """Run a group as one transaction.

        Returns the batches that still have to be run, in order.
        """
        transaction = group.transaction = self._store.transaction()
        started_s = stopwatch_s()
        try:
            transaction.prefetch([job for request in group.batch for job in request.jobs])
            for at, request in enumerate(group.batch):
                failure = self._run_one(group, at, request)
                if failure is not None:
                    transaction.rollback()
                    return self._without(group, at, failure)
                if stopwatch_s() - started_s > LONGEST_GROUP_S:
                    break
            group.changed = transaction.finish()
        except RowConflictError as conflict:
            transaction.rollback()
            group.was_refused = True
            at = group.owners.get((conflict.table.lower(), conflict.row), 0)
            return self._without(group, at, conflict.error)
        except Exception as error:  # a mutation's own is caught where it ran; this is the store's
            if is_fatal(error) or is_transient(error):
                raise
            transaction.rollback()
            return self._after_unsent(group, error)
        self._limit = min(self._limit + self._limit // 8 + 1, LARGEST_GROUP)
        return [group.batch[len(group.answers) :]]

    def _run_one(self, group: Group, at: int, request: Request) -> BaseException | None:
        """Run one request in its layer; a failure comes back where all has to be rolled back."""
        transaction = group.open_transaction
        transaction.enter()
        transaction.layer.writes_through = request.writes_through
        value, failure = self._run_body(transaction, request)
        if failure is None:
            for table, rows in transaction.layer.rows.items():
                for row in (*rows.patches, *rows.deletes, *rows.given):
                    group.owners.setdefault((table, row), at)
            transaction.merge()
            group.answers.append((request, Answer(value)))
            return None
        if isinstance(failure, DatabaseError) and _is_stores_own(failure):
            group.suspect = request
            raise failure
        group.was_refused = transaction.layer.broken is not None
        if not transaction.drop():
            return failure
        if request.failed is not None:
            transaction.enter()
            request.failed(transaction, failure)
            transaction.merge()
        group.answers.append((request, Answer(error=failure)))
        return None

    def _run_body(
        self, transaction: Transaction, request: Request
    ) -> tuple[object, BaseException | None]:
        """What the body returned, and what it raised or swallowed."""
        self.is_in_body = True
        try:
            value = request.body(transaction)
        except BaseException as error:  # noqa: BLE001  # a mutation may raise anything at all
            return None, error
        finally:
            self.is_in_body = False
        return value, transaction.layer.broken

    def _publish(self, group: Group) -> None:
        """Tell everybody what was committed, if it was."""
        if group.changed is None:
            return
        self._version += 1
        self.commits += 1
        jobs = tuple(group.open_transaction.base.jobs.values())
        commit = Commit(Change(self._version, group.changed), jobs, tuple(group.answers))
        self._announce(commit)

    def _announce(self, commit: Commit) -> None:
        self._committed(commit)
        for request, answer in commit.answers:
            if request.done is not None:
                request.done(answer)

    # --- failures -------------------------------------------------------------------------------
    def _without(self, group: Group, at: int, failure: BaseException) -> list[list[Request]]:
        """Split a rolled back group around the request that failed.

        Alone, its failure is recorded.
        """
        self._shrink(len(group.batch))
        batch = group.batch
        if len(batch) == 1 and group.was_refused and not batch[0].writes_through:
            # Held back, rows are sent in another order than the verbs, which a key may not allow.
            batch[0].writes_through = True
            return [batch]
        if len(batch) == 1:
            return self._verdict(batch[0], failure)
        return [batch[:at], [batch[at]], batch[at + 1 :]]

    def _shrink(self, size: int) -> None:
        """Take fewer at a time: the next failure has fewer neighbours to run again."""
        self._limit = max(1, min(self._limit, size) // 2)

    def _verdict(self, request: Request, failure: BaseException) -> list[list[Request]]:
        """A request failed alone: record that, or where even the record fails, try it later."""
        if not request.is_record:
            return [[_record_of(request, failure)]]
        if isinstance(failure, DatabaseError):
            raise StoreUnavailableError(f"a failure could not be recorded: {failure}")
        # Not even a log row can be written for it; whoever waits is told, and the rest goes on.
        answer = Answer(error=failure)
        self._announce(Commit(Change(self._version, frozenset()), (), ((request, answer),)))
        return []

    def _after_unsent(self, group: Group, error: Exception) -> list[list[Request]]:
        """A value did not fit its column when the group was sent.

        Halve until the owner is alone.
        """
        batch = group.batch
        group.was_refused = True
        if len(batch) == 1:
            return self._without(group, 0, error)
        self._shrink(len(group.batch))
        middle = len(batch) // 2
        return [batch[:middle], batch[middle:]]

    def _after_fatal(self, group: Group, error: Exception) -> list[list[Request]]:
        """Open again, and look whether the group in doubt is durable after all."""
        self.reopens += 1
        self._store.reopen()
        if group.suspect is not None:
            return self._after_crash(group, group.suspect, error)
        witness = group.transaction.witness if group.transaction else None
        if witness is None or not self._store.was_committed(witness):
            return [group.batch]
        group.changed = EVERYTHING
        return [group.batch[len(group.answers) :]]

    def _after_crash(self, group: Group, suspect: Request, error: Exception) -> list[list[Request]]:
        """The database was lost inside a body: try it alone, and blame it when it happens again."""
        suspect.crashes += 1
        if len(group.batch) == 1 and suspect.crashes < MOST_CRASHES:
            return [group.batch]
        return self._without(group, group.batch.index(suspect), error)

    def _give_up(self, requests: list[Request], error: Exception) -> NoReturn:
        """Tell the callers, and hand back what has to be tried again."""
        refusal = StoreUnavailableError(
            f"the database cannot be written now, nothing was changed: {error}"
        )
        doubted = self._doubt.batch if self._doubt is not None else []
        waiting = [request for request in requests if request.persists or request in doubted]
        for request in requests:
            if request not in waiting and request.done is not None:
                request.done(Answer(error=refusal))
        raise Unwritable(waiting, error)


def _record_of(request: Request, failure: BaseException) -> Request:
    """A request that records another's failure and answers it."""

    def answer(tell: Callable[[Answer], None] | None) -> Callable[[Answer], None] | None:
        return None if tell is None else lambda _: tell(Answer(error=failure))

    def record(transaction: Transaction) -> None:
        if request.failed is not None:
            request.failed(transaction, failure)

    return Request(
        record,
        done=answer(request.done),
        landed=answer(request.landed),
        jobs=request.jobs,
        persists=request.persists,
        is_record=True,
    )


def _is_stores_own(failure: DatabaseError) -> bool:
    """Whether a body met the end of the instance or of the disk; memory it used up by itself."""
    if isinstance(failure, OutOfMemory):
        return False
    return is_fatal(failure) or is_transient(failure)
