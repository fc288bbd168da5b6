"""Which server is the primary: a standby is none, nor is one that another was promoted past.

A primary that was split off has its old timeline, and takes whatever it is given; what is done there doesn't count.
So processes remember the newest timeline that they have worked on, and tell each other in Redis. One that comes to an
older server leaves it as if it did not answer, and asks the others of its DATABASE_URL first from then on. Redis may
lose what it was told: then each process has its own memory, and tells it again.
"""

import logging
import os
import socket
import threading
import weakref
from contextlib import suppress
from typing import Any
from uuid import UUID

import redis
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper

from tasks_app.conf import conf
from tasks_app.core.installation import Facts
from tasks_app.database import our_connection, our_settings
from tasks_app.lifecycle.installation import Row, stranger
from tasks_app.models import Installation

from .wakeup import Breaker, client

log = logging.getLogger(__name__)

TIMELINES = "timelines"  # a sorted set: the installation -> the newest timeline, and how often an operator lowered it
_LOWERED = 2**32  # one time that an operator went on with an older timeline


class NotPrimary(OperationalError):
    """Nothing that is done on this server would count. Treated as a server that does not answer."""


class Primaries:
    """Of one process."""

    def __init__(self) -> None:
        self._newest: dict[UUID, int] = {}
        self._client: redis.Redis | None = None
        self._pid = 0
        self._breaker = Breaker()

    def check(self, facts: Facts, row: Row | None) -> None:
        """Raises NotPrimary for a standby, and for a server that another one was promoted past."""
        # By its answer: what a connection is told when it is made, a pooler may remember from another server.
        if facts.standby:
            raise NotPrimary(f"The server at {where(our_connection())} is a standby: nothing can be written there.")
        if row is None or facts.timeline is None:
            return
        newest = self._shared(row.uid, 0) % _LOWERED
        if facts.timeline < newest:
            raise NotPrimary(
                f"The server at {where(our_connection())} is on timeline {facts.timeline}, and this installation has "
                f"been on timeline {newest}: another server was promoted, and nothing that is done here counts. If "
                "this one is to be the primary, say so with `manage.py quarantine enter` and `quarantine resume`."
            )

    def note(self, facts: Facts, row: Row) -> None:
        """This process works on this server. Not noted of a copy, which is nobody's primary."""
        if facts.timeline is not None and row.state == Installation.ACTIVE and stranger(row) is None:
            known = self._newest.get(row.uid, 0)
            if facts.timeline > known % _LOWERED:
                self._shared(row.uid, known - known % _LOWERED + facts.timeline)

    def accept(self, facts: Facts, row: Row) -> None:
        """An operator has said that this server is the primary, also if its timeline is an older one."""
        known = self._shared(row.uid, 0)
        if facts.timeline is not None and facts.timeline < known % _LOWERED:
            self._shared(row.uid, known - known % _LOWERED + _LOWERED + facts.timeline)

    def _shared(self, uid: UUID, number: int) -> int:
        """The highest that anybody has told, with this one told, too; without Redis, that this process knows."""
        known = self._newest[uid] = max(self._newest.get(uid, 0), number)
        if self._breaker.open or not conf().REDIS_URL:
            return known
        try:
            if self._client is None or self._pid != os.getpid():
                self._client, self._pid = client(conf().WAKEUP_MS / 1000), os.getpid()
            key = conf().redis_key(TIMELINES)
            with self._client.pipeline(transaction=False) as calls:
                if known:
                    calls.zadd(key, {str(uid): known}, gt=True)
                calls.zscore(key, str(uid))
                told = calls.execute()[-1]
        except (redis.RedisError, OSError) as error:
            self._breaker.trip()
            log.warning("timeline.unshared error=%r pause_seconds=%g", str(error), self._breaker.pause_seconds)
            return known
        self._breaker.worked()
        self._newest[uid] = max(known, int(told or 0))
        return self._newest[uid]


PRIMARIES = Primaries()

_opened: weakref.WeakSet[BaseDatabaseWrapper] = weakref.WeakSet()  # of all threads; see leave()
_lock = threading.Lock()


def opened(connection: BaseDatabaseWrapper) -> None:
    """A connection was made. The server that answered is the first to be asked by the next: one that swallows packets
    would cost each of them its time-out."""
    with _lock:
        _opened.add(connection)
    _put(_server(connection), first=True)


def leave(connection: BaseDatabaseWrapper) -> None:
    """Away from the server of this connection, with all threads of this process; it is the last to be asked again."""
    server = _server(connection)
    _put(server, first=False)
    with _lock:
        others = [one for one in _opened if one is not connection]
    connection.close()
    for other in others:
        if server is not None and _server(other) == server:
            _cut(other)


def where(connection: BaseDatabaseWrapper) -> str:
    server = _server(connection)
    return ":".join(server) if server else "an unknown address"


def _cut(connection: BaseDatabaseWrapper) -> None:
    """The connection of another thread: closing it here could meet that in the middle of a statement. Cut off, it is
    replaced as after any other loss."""
    with suppress(Exception), socket.socket(fileno=os.dup(connection.connection.fileno())) as wire:
        wire.shutdown(socket.SHUT_RDWR)


def _put(server: tuple[str, str] | None, *, first: bool) -> None:
    given = our_settings()
    hosts = given["HOST"].split(",")
    ports = str(given["PORT"] or "5432").split(",")
    if server is None or len(hosts) < 2:
        return
    servers = list(zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=False))
    if server not in servers or servers[0 if first else -1] == server:
        return
    servers.remove(server)
    servers.insert(0 if first else len(servers), server)
    # One dictionary for the connections of all threads; they read it when they connect.
    given.update(HOST=",".join(host for host, _ in servers), PORT=",".join(port for _, port in servers))


def _server(connection: BaseDatabaseWrapper) -> tuple[str, str] | None:
    """(host, port) as DATABASES names it; None: there is no connection, or it is none of PostgreSQL's."""
    info: Any = getattr(connection.connection, "info", None)
    with suppress(Exception):
        return info.host, str(info.port)
    return None
