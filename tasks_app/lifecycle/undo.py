"""undo: the tasks that an order moved or cancelled are put back to when they were to run, unless something has happened
to them since."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from tasks_app.core.campaigns import UNDO
from tasks_app.core.states import UNDER_WAY, Status
from tasks_app.database import atomic
from tasks_app.models import AuditEntry
from tasks_app.sql import array, run

from .audit import Entry, Operator, audit
from .decisions import Outcome
from .operate import PART, Answer, Operated, Row, clock, locked_rows, reschedule
from .past import bring_back, past_units

UNDONE = (Answer.MOVED, Answer.CANCELLED)  # what can be put back
PAGE = 5_000
# What was cancelled in one of these states waited for its time; what ran then has begun, and what waited for others may
# have been given up by them.
_WAITED = (Status.INIT, Status.FAIL, Status.SUCCESS)


class Deed(NamedTuple):
    """A row of deeds_of: what an order did to a task."""

    task: int
    answer: str
    before: str  # its state
    was: datetime  # when it was to run
    at: datetime | None  # where it was moved to


class Undoable(NamedTuple):
    """A row of undoable: whether what an order did to tasks is still on record, and whether where they were is."""

    kept: bool
    known: bool


def undoable(operation: UUID, tenant: str | None = None) -> Undoable:
    [found] = run("undoable", {"operation": operation, "answers": list(UNDONE), "tenant": tenant})
    return Undoable(*found)


def count_undoable(operation: UUID, tenant: str | None = None) -> int:
    """The tasks that `undone_tasks` gives."""
    entries = AuditEntry.objects.filter(operation=operation, task_id__isnull=False)
    known = entries.filter(outcome__in=UNDONE, detail__has_key="was")
    found: int = (known if tenant is None else known.filter(tenant=tenant)).count()
    return found


def undone_tasks(operation: UUID, tenant: str | None = None) -> Iterator[list[int]]:
    """The tasks that an order moved or cancelled, page by page."""
    after = ""
    while True:
        asked = {"operation": operation, "answers": list(UNDONE), "tenant": tenant, "after": after, "size": PAGE}
        found = run("tasks_of_operation", asked)
        if found:
            yield [task for task, _ in found]
        if len(found) < PAGE:
            return
        after = found[-1][1]


def undo(operation: UUID, ids: Sequence[int], operator: Operator, part_of: str) -> Operated:
    """Of these tasks, those that are as that operation has left them run when they were to run before it; at once, if
    that has passed."""
    with atomic(savepoint=False):
        rows = locked_rows(ids, operator)
        asked = {"operation": operation, "subjects": [f"task {id_}" for id_ in ids], "answers": list(UNDONE)}
        deeds = {deed.task: deed for deed in (Deed(*row) for row in run("deeds_of", asked))}
        rows = [row for row in rows if row.id in deeds]
        decided = {row.id: _decide(row, deeds[row.id]) for row in rows}
        over = [row for row in rows if row.past and decided[row.id] is Answer.PUT_BACK]
        decided |= _brought_back(over, operator)
        now, back = clock(), [row for row in rows if decided[row.id] is Answer.PUT_BACK]
        times = {row.id: max(deeds[row.id].was, now) for row in back}
        answers = reschedule(back, times, operator)
        for row, answer in zip(back, answers, strict=True):
            _refuse_other(row, answer.outcome)
        entries = [
            Entry(f"task {row.id}", decided[row.id], row.id, _detail(row, times, part_of), row.tenant, row.task_type)
            for row in rows
        ]
        audit(operator, UNDO, entries, checked=True)
    return Operated(decided, min((one.due for one in answers if one.due is not None), default=None))


def _decide(row: Row, deed: Deed) -> Answer:
    if not row.current:
        return Answer.SUPERSEDED
    if deed.answer == Answer.CANCELLED:
        waits = row.status == Status.CANCELLED and deed.before in _WAITED
        return Answer.PUT_BACK if waits else Answer.CHANGED
    if row.status in UNDER_WAY:
        return Answer.RUNNING
    return Answer.PUT_BACK if row.planned == deed.at and _waits(row) else Answer.CHANGED


def _brought_back(over: Sequence[Row], operator: Operator) -> dict[int, Answer]:
    """What lies in the past may have been followed by another task of its unit. What was not is live again, and locked;
    unless it is so old that nothing knows its unit any more."""
    newest = {row[0] for row in past_units([(row.tenant, row.task_type, row.key) for row in over]).values()}
    ids = [row.id for row in over if row.id in newest]
    if ids and not bring_back(ids):  # the place of one of them was taken
        ids = [one for one in ids if bring_back([one])]
    live = {row[0] for row in run("lock_tasks", {"ids": array(ids), "operation": operator.operation})} if ids else ()
    return {row.id: Answer.PUT_BACK if row.id in live else Answer.SUPERSEDED for row in over}


def _waits(row: Row) -> bool:
    return row.due or row.status == Status.BLOCKED


def _refuse_other(row: Row, outcome: Outcome) -> None:
    """The rows are locked, so what was decided is what happens."""
    expected = Outcome.CREATED if row.status == Status.CANCELLED else Outcome.UPDATED
    if outcome is not expected:
        raise RuntimeError(f"task {row.id} was {outcome} instead of {expected}; nothing was written.")


def _detail(row: Row, times: dict[int, datetime], part_of: str) -> dict[str, str]:
    return {"before": row.status, PART: part_of} | ({"at": times[row.id].isoformat()} if row.id in times else {})
