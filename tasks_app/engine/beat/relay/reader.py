"""Reads the outbox for one subscription: the rows after its cursor that it wants, in order, in bounded chunks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from tasks_app.core.events import Event, OutboxRow, Patterns
from tasks_app.models import Subscription
from tasks_app.sql import array, run

ROWS = 1_000  # that one look lists
WINDOWS = 200
EVENTS = 2_000  # in a chunk, about: a row is not cut


class Cursor(NamedTuple):
    """Up to where a subscriber has everything: all windows before this one, of it all rows before this one, and of that
    row so many events."""

    window_no: int
    row_id: int = 0
    place: int = 0


START = Cursor(0)


@dataclass(slots=True)
class _Listed:
    """A row of list_events; without an id, the window has nothing more."""

    no: int
    id: int | None  # None: a window without rows; the fields below are empty then
    created_at: datetime
    tenant: str
    event: str
    task_type: str | None
    count: int


@dataclass(slots=True)
class Chunk:
    events: list[Event] = field(default_factory=list)
    windows: dict[int, int] = field(default_factory=dict)  # of each row that is in it
    end: Cursor = START  # when all of them are delivered
    more: bool = False  # there may be more to read at once

    def before(self, event: Event) -> Cursor:
        """Where to go on if this event is the first that was not delivered."""
        return Cursor(self.windows[event.row], event.row, event.place - 1)


Wanted = Callable[[str, str, str | None], bool]


def wanted_by(subscription: Subscription) -> Wanted:
    """Whether it wants an event of this tenant, kind and task type."""
    kinds, types = Patterns(subscription.events), Patterns(subscription.task_types)
    anyones, all_types = subscription.tenant, not subscription.task_types

    def wanted(tenant: str, event: str, task_type: str | None) -> bool:
        return (
            (anyones is None or tenant == anyones)
            and event in kinds
            and (all_types or (task_type is not None and task_type in types))
        )

    return wanted


def read(cursor: Cursor, wanted: Wanted, since: datetime | None = None, most: int = EVENTS) -> Chunk:
    """The next chunk after the cursor. What nobody wants is passed over; `end` is beyond it."""
    listed = _list(cursor, since)
    if not listed:
        return Chunk(end=cursor)
    taken: list[_Listed] = []
    events, chunk = 0, Chunk()
    for one in listed:
        if one.id is None:
            chunk.end = Cursor(one.no + 1)
            continue
        if wanted(one.tenant, one.event, one.task_type):
            if taken and events + one.count > most:
                chunk.more = True
                break
            taken.append(one)
            events += one.count
        chunk.end = Cursor(one.no, one.id + 1)
    else:
        # A list that is full may end in the middle of a window; one that is not has all of the windows in it.
        chunk.more = len(listed) == ROWS or listed[-1].no - listed[0].no >= WINDOWS - 1
        if len(listed) < ROWS:
            chunk.end = Cursor(listed[-1].no + 1)
    chunk.windows = {one.id: one.no for one in taken if one.id is not None}
    chunk.events = [event for row in _load(taken) for event in row.events()]
    if taken and cursor.place and taken[0].id == cursor.row_id:
        chunk.events = [one for one in chunk.events if one.row != cursor.row_id or one.place > cursor.place]
    return chunk


def pending(
    cursor: Cursor,
    wanted: Wanted,
    since: datetime | None = None,
    most: int = 1_000_000,
    until: Cursor | None = None,
) -> int:
    """How many events it has still to get, or would get until it is there; counted up to about `most`."""
    number = 0
    while number < most:
        listed = _list(cursor, since)
        for one in listed:
            if one.id is None:
                continue
            count = one.count
            if until is not None and (one.no, one.id) >= (until.window_no, until.row_id):
                count = until.place if (one.no, one.id) == (until.window_no, until.row_id) else 0
            if count and wanted(one.tenant, one.event, one.task_type):
                number += count - (cursor.place if one.id == cursor.row_id else 0)
        if not listed:
            break
        last = listed[-1]
        if until is not None and last.no > until.window_no:
            break
        full = len(listed) == ROWS
        cursor = Cursor(last.no, last.id + 1) if full and last.id is not None else Cursor(last.no + 1)
    return number


def _list(cursor: Cursor, since: datetime | None) -> list[_Listed]:
    params = {
        "window_no": cursor.window_no,
        "row_id": cursor.row_id,
        "since": since,
        "windows": WINDOWS,
        "rows": ROWS,
    }
    return [_Listed(*row) for row in run("list_events", params)]


def _load(taken: Sequence[_Listed]) -> list[OutboxRow]:
    """In the order in which they were listed: by window, not by id."""
    if not taken:
        return []
    params = {
        "ids": array(one.id for one in taken),
        "min_at": min(one.created_at for one in taken),
        "max_at": max(one.created_at for one in taken),
    }
    rows = {row.id: row for row in (OutboxRow(*row) for row in run("load_events", params))}
    return [rows[one.id] for one in taken if one.id in rows]  # a partition may have gone meanwhile
