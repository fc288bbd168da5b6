"""The events of one task, and one event by its id. Reads only.

No index leads from a task to its events. So they are looked for around the moments at which something is known to have
happened to it, among a bounded number of rows.
"""

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple

from tasks_app.core.events import Event, OutboxRow
from tasks_app.lifecycle.tries import try_of
from tasks_app.models import AuditEntry, DlqEntry, TaskAttempt
from tasks_app.models.schedule_task import TaskFields
from tasks_app.sql import run

MARGIN = timedelta(minutes=1)  # an event has the time at which its transaction began
MOST_ROWS = 20_000  # looked at in one stretch of time
MOST_IN_ALL = 100_000
MOST = 50  # tries, and entries, that are asked for their time: the latest


class Found(NamedTuple):
    events: list[Event]  # in order
    complete: bool  # False: so much was told at the time that not all of it was looked at


def events_of(task: TaskFields) -> Found:
    """Of a task that was read with its tries (lifecycle.tries)."""
    sinces, untils = zip(*_stretches(_moments(task)), strict=True)
    most = min(MOST_ROWS, MOST_IN_ALL // len(sinces))
    asked = {"sinces": list(sinces), "untils": list(untils), "task": task.id, "most": most}
    ((cut, ids, first, last),) = run("events_near", asked, long=True)
    rows = run("load_events", {"ids": ids, "min_at": first, "max_at": last}) if ids else []
    events = [event for row in rows for event in OutboxRow(*row).events() if event.task == task.id]
    return Found(events, not cut)


def event_by_id(event_id: str) -> Event | None:
    """By the id that subscribers get; None: it is kept no longer, or there never was one."""
    found = re.fullmatch("([0-9]{1,18})-([0-9]{1,9})", event_id)
    rows = run("event_row", {"id": int(found[1])}) if found else []
    events = (event for row in rows for event in OutboxRow(*row).events())
    return next((event for event in events if event.id == event_id), None)


def _moments(task: TaskFields) -> Iterable[datetime | None]:
    """When something happened to it, as far as anybody knows."""
    tried = try_of(task)
    yield from (task.created_at, task.updated_at)
    yield from (tried.due_at, tried.allowed_at, tried.claimed_at, tried.started_at, tried.finished_at)
    own = {"task_id": task.id}
    for times in (
        TaskAttempt.objects.filter(**own).order_by("-id").values_list("started_at", "finished_at")[:MOST],
        AuditEntry.objects.filter(**own).order_by("-id").values_list("created_at")[:MOST],
        DlqEntry.objects.filter(**own).order_by("-id").values_list("created_at", "closed_at")[:MOST],
    ):
        for row in times:
            yield from row


def _stretches(moments: Iterable[datetime | None]) -> list[tuple[datetime, datetime]]:
    """The time around each, those that overlap as one."""
    found: list[tuple[datetime, datetime]] = []
    for at in sorted(at for at in moments if at is not None):
        if found and at - MARGIN <= found[-1][1]:
            found[-1] = (found[-1][0], at + MARGIN)
        else:
            found.append((at - MARGIN, at + MARGIN))
    return found
