"""What an operator may do to tasks: retry, cancel, move, discard. Decided row by row under locks, written in sets."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.core.states import UNDER_WAY, Status, is_live
from tasks_app.database import atomic
from tasks_app.sql import array, run

from . import schedule
from .audit import Entry, Operator, audit
from .dead_letter import discard, replay
from .request import Request, checked_instant
from .retry_limit import retried_too_often


class Verb(StrEnum):
    RETRY = "retry"
    REPLAY = "replay"  # retry, of the dead alone
    CANCEL = "cancel"
    MOVE = "move"
    DISCARD = "discard"  # the dead, for good


class Answer(StrEnum):
    """What became of one task."""

    REPLAYED = "replayed"  # it was dead: starts anew
    DUE_NOW = "due now"  # it waited for its next try
    CANCELLED = "cancelled"
    DISCARDED = "discarded"  # it was dead: cancelled for good
    MOVED = "moved"
    REPLACED = "replaced"  # moved while it ran: a new task took over
    RUNNING = "running"  # left alone, as are all below
    PLANNED = "planned"
    FINISHED = "finished"
    SUPERSEDED = "superseded"  # a newer task of its unit stands in its place
    NOT_DEAD = "not dead"  # it is tried again already
    LIMITED = "limited"  # retried too often of late

    @property
    def acted(self) -> bool:
        return self in _ACTED


_ACTED = (
    *(Answer.REPLAYED, Answer.DUE_NOW, Answer.CANCELLED, Answer.DISCARDED, Answer.MOVED),
    Answer.REPLACED,
)


class Row(NamedTuple):
    id: int
    tenant: str
    task_type: str
    key: str
    status: str
    due: bool
    current: bool


@dataclass(frozen=True, slots=True)
class Operated:
    answers: dict[int, Answer]  # by task; those that are gone, or were dealt with already, are not in it
    due: float | None = None  # the earliest moment at which something is due because of it, epoch seconds

    @property
    def counts(self) -> Counter:
        return Counter(self.answers.values())


def expected(verb: Verb, row: Row) -> Answer:
    """What the verb does to a row that is as it looks now."""
    if not row.current:
        return Answer.SUPERSEDED
    if verb is Verb.RETRY:
        return _RETRY.get(Status(row.status), Answer.FINISHED)
    if verb in _OF_THE_DEAD:
        if row.status == Status.DEAD:
            return _OF_THE_DEAD[verb]
        return Answer.NOT_DEAD if is_live(row.status, row.due) else Answer.FINISHED
    if not is_live(row.status, row.due):
        return Answer.FINISHED
    if verb is Verb.CANCEL:
        return Answer.CANCELLED
    return Answer.REPLACED if row.status in UNDER_WAY else Answer.MOVED


_RETRY = {
    Status.DEAD: Answer.REPLAYED,
    Status.FAIL: Answer.DUE_NOW,
    Status.RUNNING: Answer.RUNNING,
    Status.AWAY: Answer.RUNNING,
    Status.INIT: Answer.PLANNED,
    Status.BLOCKED: Answer.PLANNED,
}
_OF_THE_DEAD = {Verb.REPLAY: Answer.REPLAYED, Verb.DISCARD: Answer.DISCARDED}


def operate(verb: Verb, ids: Sequence[int], operator: Operator, at: datetime | None = None) -> Operated:
    """Do it to each of these tasks that is in a state for it, and write down who did what, why and with what answer."""
    if verb is Verb.MOVE:
        if at is None:
            raise InvalidTask("a new time is missing; give at=<aware datetime>.")
        checked_instant("at", at)
    with atomic(savepoint=False):
        run("lock_operation", {"operation": operator.operation})
        rows = [Row(*row) for row in run("lock_tasks", {"ids": array(ids), "operation": operator.operation})]
        if moved := set(ids) - {row.id for row in rows}:
            # What is in the past need not be locked: it is over, and stays so.
            asked = {"ids": array(sorted(moved)), "operation": operator.operation}
            rows += [Row(*row) for row in run("past_tasks", asked)]
        decided = {row.id: expected(verb, row) for row in rows}
        if verb in (Verb.RETRY, Verb.REPLAY):
            decided |= dict.fromkeys(retried_too_often(list(decided)), Answer.LIMITED)
        due = _write(rows, decided, operator, at)
        told = {"at": at.isoformat()} if verb is Verb.MOVE else {}
        entries = [
            Entry(f"task {row.id}", decided[row.id], row.id, {"before": row.status} | told, row.tenant, row.task_type)
            for row in rows
        ]
        audit(operator, verb, entries, checked=True)
    return Operated(decided, due)


def _write(rows: Sequence[Row], decided: dict[int, Answer], operator: Operator, at: datetime | None) -> float | None:
    """The rows are locked, so each write must move exactly what was decided."""

    def chosen(*answers: Answer) -> list[Row]:
        return [row for row in rows if decided[row.id] in answers]

    dead, failed = chosen(Answer.REPLAYED), chosen(Answer.DUE_NOW)
    moved, cancelled = chosen(Answer.MOVED, Answer.REPLACED), chosen(Answer.CANCELLED)
    if dead:
        _same(replay([row.id for row in dead], operator.name).replayed, dead)
    if discarded := chosen(Answer.DISCARDED):
        ids = [row.id for row in discarded]
        _same(discard(ids, operator.reason, operator.name, operator.tenant), discarded)
    if cancelled:
        params = {"ids": array(row.id for row in cancelled), "reason": operator.reason, "by": operator.name}
        params |= {"from": operator.tenant, "kept": conf().kept_kinds}
        _same([id_ for (id_,) in run("cancel_tasks", params)], cancelled)
    scheduled = _reschedule(failed, None, operator) + _reschedule(moved, at, operator)
    dues = [answer.due for answer in scheduled if answer.due is not None]
    return 0.0 if dead else min(dues, default=None)


def _reschedule(rows: Sequence[Row], at: datetime | None, operator: Operator) -> list[schedule.Scheduled]:
    """The usual reschedule: to a time, or to now. What it copies from the old row is left empty here."""
    requests = [
        Request((row.tenant, row.task_type, row.key), at, None if at else 0.0, None, "", 0, None, None, None)
        for row in rows
    ]
    return schedule.reschedule(requests, operator.name) if requests else []


def _same(moved: Iterable[int], wanted: Sequence[Row]) -> None:
    missing = {row.id for row in wanted} - set(moved)
    if missing:
        raise RuntimeError(f"locked tasks {sorted(missing)[:5]} did not move; nothing was written.")
