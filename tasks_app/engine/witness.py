"""What this process has seen done, in case a failover takes it back: a worker its batches, a beat what it has told.

A worker has its own memory. What subscribers were told is kept in Redis, since their cursors are in the database that
may be lost, and the beat that told them may be lost with it. Neither is done while the database has no standby.
"""

import json
import logging
import os
import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import groupby
from sys import intern
from typing import Any, NamedTuple
from uuid import UUID

import redis
from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.events import Event
from tasks_app.core.task import Task
from tasks_app.database import our_connection
from tasks_app.lifecycle.installation import Row, read_installation
from tasks_app.lifecycle.start import StartedBatch
from tasks_app.lifecycle.taken_back import (
    SeenBatch,
    SeenTask,
    ToldRow,
    find_lost_part,
    note_lost_batches,
    note_lost_events,
    note_lost_part,
    note_lost_run,
)

from .wakeup import Breaker, client

log = logging.getLogger(__name__)

TOLD = "told"  # a stream in Redis: an entry for each delivery to a subscriber
KEPT_DELIVERIES = 1_000
KEPT_BATCHES, KEPT_TASKS = 2_000, 50_000  # of a process
ASK_SECONDS = 10.0  # whether there is a standby by now
REACH = timedelta(hours=1)  # no standby that lags more is promoted


class _Settled(NamedTuple):
    """A batch, as small as can be."""

    at: datetime
    batch_no: UUID
    task_type: str
    ids: "array[int]"  # of ints
    tenants: list[str]  # each text once, however many tasks have it

    def seen(self) -> SeenBatch:
        named = zip(self.ids, self.tenants, strict=True)
        return SeenBatch(self.batch_no, [SeenTask(id, tenant, self.task_type, None) for id, tenant in named])


class Witness:
    """Of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # a worker's main thread and its clerk both settle
        self._batches: deque[_Settled] = deque()
        self._tasks = 0  # in these batches
        self.timeline: int | None = None  # of the server that this process works on
        self.asks = False  # in a beat or worker
        self._asked_at = time.monotonic()
        self._has_standbys = False
        self._client: redis.Redis | None = None
        self._pid = 0
        self._breaker = Breaker()

    def settled(self, batch: StartedBatch) -> None:
        """By this worker; the database has said so."""
        if not self._has_standbys and not self._ask_for_standbys():
            return
        ids, tenants = array("q", [task.id for task in batch.tasks]), [intern(task.tenant) for task in batch.tasks]
        with self._lock:
            self._batches.append(_Settled(datetime.now(UTC), batch.batch_no, batch.task_type, ids, tenants))
            self._tasks += len(ids)
            while self._tasks > KEPT_TASKS or len(self._batches) > KEPT_BATCHES:
                self._tasks -= len(self._batches.popleft().ids)

    def interrupted(self, batch: StartedBatch, begun: Collection[int], timeline: int | None) -> None:
        """This worker had begun these tasks of it, on that timeline, and the batch is no longer its own."""
        if timeline == server_timeline():
            return  # its lease ran out, or somebody gave it back
        tasks = [SeenTask(one.id, one.tenant, batch.task_type, None) for one in batch.tasks if one.id in begun]
        seen = SeenBatch(batch.batch_no, tasks)
        _note(lambda row: note_lost_run(row, seen, datetime.now(UTC) - REACH))

    def partly_settled(self, batch: StartedBatch, settled: Sequence[Task]) -> set[int]:
        """This worker has settled these tasks of a batch that goes on, on another timeline than now: the ids of those
        that are not settled here."""
        tasks = [SeenTask(one.id, one.tenant, batch.task_type, None) for one in settled]
        lost = find_lost_part(SeenBatch(batch.batch_no, tasks))
        if lost:
            _note(lambda row: note_lost_part(row, SeenBatch(batch.batch_no, lost)))
        return {one.id for one in lost if one.id is not None}

    def _ask_for_standbys(self) -> bool:
        """A worker's child keeps its connection for long, and looks at the installation only when it has a new one."""
        if not self.asks or time.monotonic() - self._asked_at < ASK_SECONDS:
            return False
        self._asked_at = time.monotonic()
        with suppress(DatabaseError, InterfaceError):
            row = read_installation()
            self._has_standbys = row is not None and bool(row.standbys)
        return self._has_standbys

    def told(self, subscription: str, events: Sequence[Event]) -> None:
        """By this beat; the receiver has them."""
        if not self._has_standbys or self._breaker.open or not events:
            return
        rows = [_packed(subscription, list(of)) for _, of in groupby(events, key=lambda event: event.row)]
        try:
            self._redis().xadd(
                conf().redis_key(TOLD), {"rows": json.dumps(rows)}, maxlen=KEPT_DELIVERIES, approximate=True
            )
            self._breaker.worked()
        except (redis.RedisError, OSError) as error:
            self._breaker.trip()
            log.warning("told.unshared error=%r pause_seconds=%g", str(error), self._breaker.pause_seconds)

    def compare(self, row: Row, *, beat: bool) -> None:
        """After a look at the installation: if its timeline is another one than before, what was seen is looked for."""
        self._has_standbys = bool(row.standbys)
        timeline = row.facts.timeline if row.facts else None
        before = self.timeline
        if timeline is None or timeline == before:
            return
        if beat:  # also one that has just started: who told it may have died with the primary
            note_lost_events(row, self._read_told())
        if before is not None and self._batches:
            since = datetime.now(UTC) - REACH
            with self._lock:
                recent = [one.seen() for one in self._batches if one.at >= since]
            note_lost_batches(row, recent, since)
            with self._lock:
                self._batches.clear()
                self._tasks = 0
        self.timeline = timeline  # at last: what fails on the way is done again

    def _read_told(self) -> list[ToldRow]:
        since = datetime.now(UTC) - REACH
        try:
            entries: Any = self._redis().xrange(conf().redis_key(TOLD), min=int(since.timestamp() * 1000))
        except (redis.RedisError, OSError) as error:
            log.warning("told.unread error=%r", str(error))
            return []
        try:
            return [_unpacked(one) for _, fields in entries for one in json.loads(fields[b"rows"])]
        except (ValueError, TypeError, KeyError) as error:
            log.warning("told.unread error=%r", f"not what a beat writes: {error}")
            return []

    def _redis(self) -> redis.Redis:
        if self._client is None or self._pid != os.getpid():
            self._client, self._pid = client(1.0), os.getpid()
        return self._client


WITNESS = Witness()


def note_server(row: Row) -> None:
    """What this thread's connection leads to; each look says so, before anything is compared."""
    our_connection()._punctual_timeline = row.facts.timeline if row.facts else None


def server_timeline() -> int | None:
    """Of the server that this thread's connection leads to, or led to last; None: nobody has looked."""
    return getattr(our_connection(), "_punctual_timeline", None)


def _note(note: Callable[[Row], object]) -> None:
    """For people to read: a fault in it must not keep a worker from its work."""
    try:
        row = read_installation()
        if row is None or row.facts is None:
            log.error("failover.not_compared error='the server does not say what it is'")
        else:
            note(row)
    except (DatabaseError, InterfaceError) as error:
        log.error("failover.not_compared error=%r", str(error).strip())


def _packed(subscription: str, events: Sequence[Event]) -> list[Any]:
    first = events[0]
    tasks = [[event.task, event.task_type, event.key] for event in events]
    return [first.row, first.time.isoformat(), first.type, subscription, first.tenant, tasks]


def _unpacked(kept: list[Any]) -> ToldRow:
    row, time, event, subscription, tenant, tasks = kept
    return ToldRow(
        row, datetime.fromisoformat(time), event, subscription, [SeenTask(task, tenant, *rest) for task, *rest in tasks]
    )
