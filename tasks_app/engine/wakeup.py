"""The wake-up: a hint to the dispatcher that something is due before it planned to look.

At most one signal is pending however many tasks are added, and none is sent for a task due after the next look.
Losing a signal costs at most LOOK_SECONDS; a stalled Redis costs the caller WAKEUP_MS once in a while.
"""

import logging
import os
import select
import time

import redis
from django.db import transaction
from redis.backoff import NoBackoff
from redis.retry import Retry

from tasks_app.conf import conf

log = logging.getLogger(__name__)

NEXT_LOOK_KEY = "punctual:next_look"
SIGNAL_KEY = "punctual:signal"

# Sent only if due before the announced look (or if nobody announced one), and only if none is pending.
_SIGNAL = """
local look = redis.call('GET', KEYS[1])
if look and tonumber(ARGV[1]) >= tonumber(look) then return 0 end
if redis.call('LLEN', KEYS[2]) > 0 then return 0 end
redis.call('LPUSH', KEYS[2], '1')
return 1
"""


def client(timeout: float) -> redis.Redis:
    """A Redis client that fails fast: no retries, no handshake beyond what the server demands."""
    return redis.Redis.from_url(
        conf().REDIS_URL,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
        driver_info=None,
    )


class Breaker:
    """After a failure nothing is tried for a while."""

    def __init__(self) -> None:
        self._closed_again = 0.0

    @property
    def open(self) -> bool:
        return time.monotonic() < self._closed_again

    def trip(self) -> None:
        self._closed_again = time.monotonic() + conf().WAKEUP_PAUSE_SECONDS


class Sender:
    """The scheduling side. Never raises and never waits long."""

    def __init__(self) -> None:
        self._client: redis.Redis | None = None
        self._pid = 0
        self._breaker = Breaker()

    def wake(self, due: float) -> bool:
        """Signal the dispatcher if it would look too late for `due` (epoch seconds, database clock)."""
        if self._breaker.open:
            return False
        try:
            if self._client is None or self._pid != os.getpid():
                self._client, self._pid = client(conf().WAKEUP_MS / 1000), os.getpid()
            return bool(self._client.eval(_SIGNAL, 2, NEXT_LOOK_KEY, SIGNAL_KEY, repr(due)))
        except Exception as error:
            # Anything at all: a task is written already, and its caller must not hear of Redis.
            self._breaker.trip()
            log.warning("wakeup.failed error=%r pause_seconds=%g", str(error), conf().WAKEUP_PAUSE_SECONDS)
            return False


SENDER = Sender()


class _Pending:
    """The earliest due moment of one transaction; sends one signal when it commits."""

    def __init__(self, due: float) -> None:
        self.due = due

    def send(self) -> None:
        SENDER.wake(self.due)


def wake_on_commit(due: float) -> None:
    """Signal once after the caller's commit, for the earliest of all tasks it scheduled; never after a rollback."""
    connection = transaction.get_connection()
    pending = getattr(connection, "_punctual_pending", None)
    # A rollback empties run_on_commit, so a leftover of an earlier transaction is not found there.
    if pending is not None and any(call == pending.send for _, call, _ in reversed(connection.run_on_commit)):
        pending.due = min(pending.due, due)
        return
    pending = _Pending(due)
    connection._punctual_pending = pending
    transaction.on_commit(pending.send, robust=True)


class Listener:
    """The dispatcher's side: announces the next look and waits for a signal, a moment, or the end."""

    def __init__(self) -> None:
        self._breaker = Breaker()
        self._client: redis.Redis | None = None
        self._connection: redis.connection.AbstractConnection | None = None
        self._armed = False
        self._stop_reader, self._stop_writer = os.pipe()
        os.set_blocking(self._stop_writer, False)

    def announce(self, next_look: float) -> None:
        """Say when the next look will be, before reading the earliest due moment: then no wake-up falls between."""
        if self._breaker.open:
            return
        try:
            if self._client is None:
                self._client = client(conf().WAKEUP_MS / 1000)
            self._client.set(NEXT_LOOK_KEY, repr(next_look))
        except Exception as error:
            self._give_up(error)

    def wait(self, seconds: float) -> bool:
        """Wait at most so long; True if a signal came."""
        sources = [self._stop_reader]
        signals = self._arm()
        if signals is not None:
            sources.append(signals)
        readable, _, _ = select.select(sources, [], [], max(seconds, 0))
        return signals in readable and self._read_signal()

    def interrupt(self) -> None:
        """End a wait now; safe to call from a signal handler."""
        os.write(self._stop_writer, b"x")

    def close(self) -> None:
        self._drop_connection()
        if self._client is not None:
            self._client.close()

    def _arm(self) -> int | None:
        """Have one blocking pop outstanding, so that waiting costs no command at all."""
        if self._connection is None:
            if self._breaker.open:
                return None
            try:
                self._connection = client(conf().WAKEUP_MS / 1000).connection_pool.get_connection()
            except Exception as error:
                self._give_up(error)
                return None
        try:
            if not self._armed:
                self._connection.send_command("BLPOP", SIGNAL_KEY, 0)
                self._armed = True
            return self._connection._sock.fileno()
        except Exception as error:
            self._give_up(error)
            return None

    def _read_signal(self) -> bool:
        try:
            self._connection.read_response()
            self._armed = False
            return True
        except Exception as error:
            self._give_up(error)
            return False

    def _give_up(self, error: Exception) -> None:
        self._breaker.trip()
        self._drop_connection()
        log.warning("wakeup.lost error=%r pause_seconds=%g", str(error), conf().WAKEUP_PAUSE_SECONDS)

    def _drop_connection(self) -> None:
        if self._connection is not None:
            self._connection.disconnect()
        self._connection, self._armed = None, False
