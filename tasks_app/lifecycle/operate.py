"""What an operator may do to tasks: retry, cancel, move, discard. Decided row by row under locks, written in sets."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.moves import Move
from tasks_app.core.states import UNDER_WAY, Status, is_live
from tasks_app.database import atomic
from tasks_app.sql import array, run

from . import schedule
from .audit import Entry, Operator, audit
from .dead_letter import discard, replay
from .decisions import Scheduled
from .request import Request, checked_instant
from .retry_limit import retried_too_often

# So begins the subject of one for several tasks that is no campaign; the number of the first of them follows.
ORDER = "order from task "
PART = "of"  # in the detail of an entry: the order that it is a part of


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
    PUT_BACK = "put back"  # an order for it was undone
    RUNNING = "running"  # left alone, as are all below
    PLANNED = "planned"
    FINISHED = "finished"
    SUPERSEDED = "superseded"  # a newer task of its unit stands in its place
    NOT_DEAD = "not dead"  # it is tried again already
    LIMITED = "limited"  # retried too often of late
    CHANGED = "changed"  # it began, or was changed, since the order that is undone

    @property
    def acted(self) -> bool:
        return self in _ACTED


_ACTED = (
    *(Answer.REPLAYED, Answer.DUE_NOW, Answer.CANCELLED, Answer.DISCARDED, Answer.MOVED),
    *(Answer.REPLACED, Answer.PUT_BACK),
)


class Row(NamedTuple):
    id: int
    tenant: str
    task_type: str
    key: str
    status: str
    due: bool
    current: bool
    planned: datetime | None = None  # when it is to run
    past: bool = False  # it is not among what is live, so it is not locked, and may not be the last of its unit


@dataclass(frozen=True, slots=True)
class Operated:
    answers: dict[int, Answer]  # by task; those that are gone, or were dealt with already, are not in it
    due: float | None = None  # the earliest moment at which something is due because of it, epoch seconds

    @property
    def counts(self) -> Counter[Answer]:
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


def checked_move(at: datetime | None = None, by: timedelta | None = None, over: timedelta | None = None) -> Move:
    """To a time; by so much; or spread over so long, from that time or from now on."""
    if at is not None:
        checked_instant("at", at)
    return Move(clock() if at is None and over is not None and by is None else at, by, over)


def operate(
    verb: Verb,
    ids: Sequence[int],
    operator: Operator,
    move: Move | None = None,
    *,
    place: int = 0,
    of: int | None = None,
    part_of: str = "",
) -> Operated:
    """Do it to each of these tasks that is in a state for it, and write down who did what, why and with what answer.

    `place`, `of`: of a step, how many tasks of its order came before these, and how many there are; they are spread.
    `part_of`: the order that has an entry of its own; else one for several tasks gets it here.
    """
    if verb is Verb.MOVE and move is None:
        move = checked_move()  # which says what is missing
    with atomic(savepoint=False):
        rows = locked_rows(ids, operator)
        decided = {row.id: expected(verb, row) for row in rows}
        if verb in (Verb.RETRY, Verb.REPLAY):
            decided |= dict.fromkeys(retried_too_often(list(decided)), Answer.LIMITED)
        times = {}
        if move is not None and verb is Verb.MOVE:
            now, places = clock(), {id_: place + number for number, id_ in enumerate(ids)}
            times = {row.id: move.time_of(row.planned or now, places[row.id], of or len(ids), now) for row in rows}
        due = _write(rows, decided, operator, times)
        entries = []
        if len(rows) > 1 and not part_of:
            part_of = f"{ORDER}{min(row.id for row in rows)}"  # an operation may give several
            entries.append(_order(part_of, rows, decided, move))
        entries += [
            Entry(f"task {row.id}", answer, row.id, _detail(row, answer, times, part_of), row.tenant, row.task_type)
            for row, answer in ((row, decided[row.id]) for row in rows)
        ]
        audit(operator, verb, entries, checked=True)
    return Operated(decided, due)


def clock() -> datetime:
    now: datetime = run("clock", {})[0][0]
    return now


def locked_rows(ids: Sequence[int], operator: Operator) -> list[Row]:
    """Of these tasks those that the operation has not dealt with, locked. Two requests of one operation take turns."""
    asked = {"operation": operator.operation}
    run("lock_operation", asked)
    rows = [Row(*row) for row in run("lock_tasks", asked | {"ids": array(ids)})]
    if moved := set(ids) - {row.id for row in rows}:
        # What is in the past need not be locked: it is over, and stays so.
        rows += [Row(*row) for row in run("past_tasks", asked | {"ids": array(sorted(moved))})]
    return rows


def _order(subject: str, rows: Sequence[Row], decided: Mapping[int, Answer], move: Move | None) -> Entry:
    """The one row of an order for several tasks; theirs are the details behind it."""
    tenants, types = {row.tenant for row in rows}, {row.task_type for row in rows}
    detail = {"tasks": len(rows), "answers": Counter(decided.values())} | (move.options if move else {})
    return Entry(
        subject,
        "ordered",
        None,
        detail,
        tenants.pop() if len(tenants) == 1 else None,
        types.pop() if len(types) == 1 else None,
    )


def _detail(row: Row, answer: Answer, times: Mapping[int, datetime], part_of: str) -> dict[str, str]:
    """What it was before, and when it was to run: whoever undoes the order puts it back there."""
    told = {"before": row.status} | ({PART: part_of} if part_of else {})
    if row.id in times:
        told["at"] = times[row.id].isoformat()
    if row.planned is not None and answer in (Answer.MOVED, Answer.CANCELLED):
        told["was"] = row.planned.isoformat()
    return told


def _write(
    rows: Sequence[Row], decided: dict[int, Answer], operator: Operator, times: Mapping[int, datetime]
) -> float | None:
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
        params: dict[str, object] = {
            "ids": array(row.id for row in cancelled),
            "reason": operator.reason,
            "by": operator.name,
        }
        params |= {"from": operator.tenant, "kept": conf().kept_kinds}
        _same([id_ for (id_,) in run("cancel_tasks", params)], cancelled)
    scheduled = reschedule(failed, {}, operator) + reschedule(moved, times, operator)
    dues = [answer.due for answer in scheduled if answer.due is not None]
    return 0.0 if dead else min(dues, default=None)


def reschedule(rows: Sequence[Row], times: Mapping[int, datetime], operator: Operator) -> list[Scheduled]:
    """The usual reschedule: to a time, or to now. What it copies from the old row is left empty here."""
    requests = [_request(row, times.get(row.id)) for row in rows]
    return schedule.reschedule(requests, operator.name) if requests else []


def _request(row: Row, at: datetime | None) -> Request:
    return Request((row.tenant, row.task_type, row.key), at, 0.0 if at is None else None, None, "", 0, None, None, None)


def _same(moved: Iterable[int], wanted: Sequence[Row]) -> None:
    missing = {row.id for row in wanted} - set(moved)
    if missing:
        raise RuntimeError(f"locked tasks {sorted(missing)[:5]} did not move; nothing was written.")
