"""Reading the outbox for alarms: each event of a transaction that is over counts once, whoever dies in between."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from tasks_app.core.alarms import Condition, Occurrence
from tasks_app.core.events import Event, OutboxRow
from tasks_app.database import atomic
from tasks_app.lifecycle.alarms.incidents import note, well
from tasks_app.models import AlarmReader
from tasks_app.sql import run

ROWS = 500  # of the outbox in one transaction, at most
EVENTS = 20_000  # and about so many events in them
STEPS = 40  # in one look
RESUMED = "subscription.resumed"
QUARANTINED = "installation.quarantined"
KINDS = ["task.dead", "task.late", "task.cancelled", "job.missed", "subscription.suspended", RESUMED, QUARANTINED]
EXPIRED = "EXPIRED"
_LOOK = "`manage.py quarantine show` and the audit trail say what was decided about what was overdue."


class Position(NamedTuple):
    """A row of lock_reader: how far the alarms have read, and how far they can."""

    same: bool  # False: another database server, where transactions are numbered anew
    floor_id: int
    before: str  # snapshots
    after: str
    xid: int
    row: int


class Step(NamedTuple):
    rows: int
    more: bool  # there is more to read at once


class Read(NamedTuple):
    """A row of read_events."""

    xid: int  # its transaction
    row: OutboxRow
    rows: int  # how many there are with it


def read_events() -> int:
    """Note what has happened since the last look, step by step; returns how many rows of the outbox were read."""
    read = 0
    for _ in range(STEPS):
        step = _step()
        read += step.rows
        if not step.more:
            break
    return read


def forget_position() -> None:
    """The first rule that there is again begins with what happens after it."""
    AlarmReader.objects.all().delete()


def _step() -> Step:
    """One transaction: the events, and that they were read."""
    with atomic(savepoint=False):
        found = run("lock_reader", {})
        if not found:
            run("begin_reader", {})  # does nothing if another beat is reading
            return Step(0, more=False)
        at = Position(*found[0])
        if not at.same:
            run("restart_reader", {})
            return Step(0, more=False)
        asked = {name: getattr(at, name) for name in ("before", "after", "xid", "row", "floor_id")}
        found = run("read_events", asked | {"kinds": KINDS, "most": ROWS, "events": EVENTS})
        rows = [Read(xid, OutboxRow(*row), number) for xid, *row, _, number in found]
        _note(one.row for one in rows)
        more = bool(rows) and (len(rows) < rows[-1].rows or len(rows) == ROWS)
        if more:
            run("advance_reader", {"before": at.before, "after": at.after, "xid": rows[-1].xid, "row": rows[-1].row.id})
        else:
            run("advance_reader", {"before": at.after, "after": None, "xid": 0, "row": 0})
    return Step(len(rows), more)


def _note(rows: Iterable[OutboxRow]) -> None:
    """In the order in which they happened, as far as it matters: what is over is over after it was noted."""
    waiting: list[Occurrence] = []
    for row in rows:
        if row.event != RESUMED:
            waiting += occurrences_of(row.events())
            continue
        note(waiting)
        waiting = []
        for event in row.events():
            well(Condition.SUSPENDED, _text(event, "name"), event.tenant)
    note(waiting)


def occurrences_of(events: Iterable[Event]) -> Iterable[Occurrence]:
    """What a thousand events of one row come to, cause by cause."""
    found: dict[tuple[Any, ...], Occurrence] = {}
    for event in events:
        seen = _occurrence(event)
        if seen is None:
            continue
        key = (seen.task_type, seen.cause, seen.job)
        found[key] = found[key].plus(seen) if key in found else seen
    return found.values()


def _occurrence(event: Event) -> Occurrence | None:
    """None: nobody's business, such as a task that a person cancelled."""
    about = {"tenant": event.tenant, "task": event.task, "key": event.key}
    match event.type:
        case "task.dead":
            code = _text(event, "code")
            return Occurrence(
                Condition.DEAD,
                event.tenant,
                _text(event, "fingerprint") or code,
                event.task_type or "",
                event.job,
                sample=about | {"error_code": code, "error_msg": _text(event, "message")},
            )
        case "task.late":
            seconds = float(_data(event).get("late_seconds") or 0.0)
            return Occurrence(
                Condition.LATE,
                event.tenant,
                task_type=event.task_type or "",
                job=event.job,
                seconds=seconds,
                each=(seconds,),
                sample=about,
            )
        case "task.cancelled":
            if event.job is None or _text(event, "code") != EXPIRED:
                return None
            return Occurrence(
                Condition.MISSED,
                event.tenant,
                task_type=event.task_type or "",
                job=event.job,
                sample=about | {"jobs": [f"job {event.job}, which expired"]},
            )
        case "job.missed":
            return Occurrence(
                Condition.MISSED,
                event.tenant,
                task_type=event.task_type or "",
                job=event.job,
                count=int(_data(event).get("count") or 1),
                sample={"tenant": event.tenant, "jobs": [_text(event, "name")]},
            )
        case _ if event.type == QUARANTINED:
            since = f"at {event.time:%Y-%m-%d %H:%M:%S} UTC by {_text(event, 'by')}"
            told = f"P1: the installation was put into quarantine {since}, and nothing was dispatched until it went on"
            return Occurrence(
                Condition.QUARANTINE,
                None,
                sample={"sentence": told, "reason": _text(event, "reason"), "way_out": _LOOK},
            )
        case _:
            name = _text(event, "name")
            sample = {"tenant": event.tenant, "reason": _text(event, "reason")}
            return Occurrence(Condition.SUSPENDED, event.tenant, name, sample=sample)


def _data(event: Event) -> dict[str, Any]:
    return event.data if isinstance(event.data, dict) else {}


def _text(event: Event, name: str) -> str:
    return str(_data(event).get(name) or "")
