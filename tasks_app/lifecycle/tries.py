"""The tries of a task as its row and its batch tell them: the one under way, or the last one; and what failed last.

A row keeps the times and the error of its last try until it is settled again. So while it runs, they are not its own.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar
from uuid import UUID

from tasks_app.core.states import UNDER_WAY, Status
from tasks_app.models import AwayTask, TaskBatch
from tasks_app.models.schedule_task import TaskFields
from tasks_app.sql import array, run

from .progress import Progress, progress_of

T = TypeVar("T", bound=TaskFields)
LOST = "LOST"  # the error code of a try whose worker died; reap.sql writes it
_FAILED = (Status.FAIL, Status.DEAD)
_ENDED_SO = (Status.FAIL, Status.DEAD, Status.CANCELLED)  # the states that the error of a row is about


class Try(NamedTuple):
    """One that is under way has no end, and began when its batch did; before that, it is only claimed."""

    claimed_at: datetime | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    worker: str = ""
    batch: UUID | None = None
    due_at: datetime | None = None
    allowed_at: datetime | None = None  # from when on it could start, if that was after it was due


class Error(NamedTuple):
    code: str
    message: str


def with_tries(rows: Iterable[T]) -> list[T]:
    """These rows, each with what its batch and its attempts know of it: in a statement or two, however many rows."""
    rows = list(rows)
    batches = _batches(rows)
    workers = {batch_no: batch.worker for batch_no, batch in batches.items()}
    # A row that was moved to the past took its worker along: its batch may be dropped before it.
    own = {row.id: getattr(row, "worker", None) for row in rows}
    unknown = {row.ran_in for row in rows if own[row.id] is None and row.ran_in not in workers} - {None}
    if unknown:
        workers |= dict(run("past_workers", {"batches": list(unknown)}))
    failed = [row.id for row in rows if row.status in _FAILED or row.error_code == LOST]
    attempts = {task_id: rest for task_id, *rest in run("last_attempts", {"ids": array(failed)})} if failed else {}
    away = _away(rows)
    progress = progress_of([row.id for row in rows if row.status in UNDER_WAY])
    for row in rows:
        row.away = away.get(row.id)
        row.batch = batches.get(row.batch_no)
        row.queued = _is_queued(row, row.batch)
        run_began = row.start_time if row.away else row.batch and row.batch.started_at
        row.progress = _of_this_run(progress.get(row.id), run_began)
        row.last_worker = own[row.id] or workers.get(row.ran_in)
        began, worker = attempts.get(row.id, (None, None))
        # reap leaves start_time alone: by it one sees when a canary last came back.
        row.lost_started = began if _was_lost(row) else None
        row.failed_worker = worker if row.status in _FAILED else None
    return rows


def with_queued(rows: Iterable[T]) -> list[T]:
    """These rows, each with whether it is queued: claimed, and no worker has started its batch. One statement, and none
    if no row is RUNNING."""
    rows = list(rows)
    wanted = {row.batch_no for row in rows if row.status == Status.RUNNING} - {None}
    batches = TaskBatch.objects.filter(batch_no__in=wanted).only("started_at").in_bulk() if wanted else {}
    for row in rows:
        row.queued = _is_queued(row, batches.get(row.batch_no))
    return rows


def _is_queued(row: TaskFields, batch: TaskBatch | None) -> bool:
    return row.status == Status.RUNNING and batch is not None and batch.started_at is None


def _of_this_run(progress: Progress | None, began: datetime | None) -> Progress | None:
    """What a run before it has left behind says nothing of the one that is under way."""
    if progress is None or began is None or progress.at < began:
        return None
    return progress


def _batches(rows: Sequence[TaskFields]) -> dict[UUID, TaskBatch]:
    """Of what runs, and of what ended a short while ago: a row of the past knows its worker without its batch."""
    wanted = {row.batch_no for row in rows} | {row.ran_in for row in rows if getattr(row, "worker", None) is None}
    wanted.discard(None)
    few = TaskBatch.objects.filter(batch_no__in=wanted).only("claimed_at", "started_at", "allowed_at", "worker")
    return few.in_bulk() if wanted else {}


def _away(rows: Iterable[TaskFields]) -> dict[int, AwayTask]:
    """Who has what is away, until when."""
    wanted = [row.id for row in rows if row.status == Status.AWAY]
    return AwayTask.objects.in_bulk(wanted) if wanted else {}


def try_of(row: TaskFields) -> Try:
    """The try that is under way, or else the last one that ended; of a row read by with_tries."""
    return _under_way(row) if row.status == Status.RUNNING else _last(row)


def try_before(row: TaskFields) -> Try:
    """The last one that ended before the one that is under way."""
    return _last(row) if row.status == Status.RUNNING else Try()


def tries_of(row: TaskFields) -> int:
    """Over its whole life: those that failed, and one that is under way or succeeded."""
    failed: int = row.retry_count
    return failed + (row.status in (*UNDER_WAY, Status.SUCCESS))


def late_by(row: TaskFields) -> timedelta | None:
    """How late its last run began, after it was due, scheduled, and let through by its limit and its lane.

    None if that is not known: none was settled, or it has been claimed again since.
    """
    if row.status in (Status.RUNNING, Status.CANCELLED) or _was_lost(row):
        return None
    if row.start_time is None or row.claimed_due is None or row.start_time < row.claimed_due:
        return None
    late: timedelta = row.start_time - max(row.claimed_due, row.allowed_at or row.claimed_due)
    return max(late, timedelta(0))


def waited(row: TaskFields) -> timedelta | None:
    """How long its last run was held back after it was due, without being late; None if not at all."""
    if late_by(row) is None or row.allowed_at is None or row.allowed_at <= row.claimed_due:
        return None
    held: timedelta = row.allowed_at - row.claimed_due
    return held


def error_of(row: TaskFields) -> Error:
    """Why it stands as it stands; empty unless it failed, gave up or was cancelled."""
    return Error(row.error_code, row.error_msg) if row.status in _ENDED_SO else Error("", "")


def last_error(row: TaskFields) -> Error | None:
    """What its last failed try said, until it succeeds; None also for what was cancelled."""
    if not row.error_code or row.status == Status.CANCELLED:
        return None
    return Error(row.error_code, row.error_msg)


def _under_way(row: TaskFields) -> Try:
    batch = row.batch
    allowed = max(filter(None, (row.allowed_at, batch and batch.allowed_at)), default=None)
    return Try(
        claimed_at=batch and batch.claimed_at,
        started_at=batch and batch.started_at,
        worker=batch.worker if batch else "",
        batch=row.batch_no,
        due_at=row.claimed_due,
        allowed_at=_after(allowed, row.claimed_due),
    )


def _last(row: TaskFields) -> Try:
    began = row.lost_started if _was_lost(row) else row.start_time
    # What has been claimed again since, and given back, was due then for a run that never was.
    due = None if began is None or row.claimed_due is None or began < row.claimed_due else row.claimed_due
    return Try(
        started_at=began,
        finished_at=row.finish_time,
        worker=row.failed_worker or row.last_worker or "",
        batch=row.ran_in,
        due_at=due,
        allowed_at=_after(row.allowed_at, due),
    )


def _was_lost(row: TaskFields) -> bool:
    """Its last run was. The error of what is away is that of the try before, as of what runs."""
    return bool(row.error_code == LOST and row.status != Status.AWAY)


def _after(allowed: datetime | None, due: datetime | None) -> datetime | None:
    return None if allowed is None or due is None or allowed <= due else allowed
