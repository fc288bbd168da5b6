"""The wake-up: a hint to the dispatchers that something is due before they meant to look.

At most one signal is pending for a shard however many tasks are added, and it says when the first of them is due. None
is sent for a task due after the next look at its shard. When that is, Redis knows; about a task that is far from due it
is not even asked. Losing a signal costs at most LOOK_SECONDS; a stalled Redis costs the caller WAKEUP_MS once in a
while.
"""

import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from tasks_app.conf import conf
from tasks_app.core.redis_url import SENTINEL, Sentinels
from tasks_app.database import our_connection
from tasks_app.libraries.django import in_transaction, runs_on_commit

if TYPE_CHECKING:
    import redis

log = logging.getLogger(__name__)

# Names of keys; conf().redis_key() puts the prefix before them.
NEXT_LOOK = "next_look"  # a hash: shard -> when its dispatcher looks next, epoch seconds
SIGNAL = "signal:"  # and the number of the shard: a list with one element at most, when what it tells of is due
FLEET = "fleet:"  # and the id of a beat: it should look at its leases

# Due so much later than now: a look comes first, even if our clock is minutes behind the database's.
FAR_SECONDS = 600.0

# Sent only if due before the announced look (or if nobody announced one), and only if none is pending: that one tells
# of the earlier of both. What is no number tells of anything.
_SIGNAL = """
local sent = 0
for i = 1, #ARGV, 2 do
    local look = redis.call('HGET', KEYS[1], ARGV[i])
    if not look or tonumber(ARGV[i + 1]) < tonumber(look) then
        local list = KEYS[2] .. ARGV[i]
        local pending = redis.call('LINDEX', list, 0)
        if not pending then
            redis.call('LPUSH', list, ARGV[i + 1])
            sent = sent + 1
        elseif tonumber(ARGV[i + 1]) < (tonumber(pending) or 0) then
            redis.call('LSET', list, 0, ARGV[i + 1])
        end
    end
end
return sent
"""
# Nobody reads the list of a beat that died, so it goes by itself after a while.
_TELL = """
if redis.call('LLEN', KEYS[1]) == 0 then redis.call('LPUSH', KEYS[1], '1') end
return redis.call('EXPIRE', KEYS[1], 60)
"""


def client(timeout: float, url: str = "") -> "redis.Redis":
    """A Redis client that fails fast: no retries, no handshake beyond what the server demands. Of REDIS_URL, if no
    other is named; with sentinels, each new connection leads to whoever is the master then."""
    # A tenth of a second, more where OpenTelemetry is installed: for processes that signal something.
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
    from redis.sentinel import Sentinel

    from tasks_app.libraries.redis import SILENT

    url = url or conf().REDIS_URL
    options = {
        "socket_timeout": timeout,
        "socket_connect_timeout": timeout,
        "retry": Retry(NoBackoff(), 0),
    } | SILENT
    if not url.startswith(SENTINEL):
        return redis.Redis.from_url(url, **options)
    asked = Sentinels.of(url)
    sentinels = Sentinel(asked.addresses, sentinel_kwargs=options | asked.secret)
    master: redis.Redis = sentinels.master_for(asked.master, db=asked.db, **options, **asked.secret)
    return master


class Breaker:
    """After a failure nothing is tried for a while: for a moment after the first, as a machine that stood still is soon
    back; for twice as long after each further one, up to WAKEUP_PAUSE_SECONDS."""

    def __init__(self) -> None:
        self.pause_seconds = 0.0  # after the last failure; 0 if something has worked since
        self._closed_again = 0.0

    @property
    def open(self) -> bool:
        return time.monotonic() < self._closed_again

    def trip(self) -> None:
        if self.open:
            return  # another thread has met the same stall
        longest = conf().WAKEUP_PAUSE_SECONDS
        self.pause_seconds = min(max(2 * self.pause_seconds, longest / 64), longest)
        self._closed_again = time.monotonic() + self.pause_seconds

    def worked(self) -> None:
        self.pause_seconds = 0.0


def _tell(key: str, broker: "redis.Redis") -> object:
    return broker.eval(_TELL, 1, key)


class Sender:
    """The scheduling side. Never raises and never waits long."""

    def __init__(self) -> None:
        self._client: redis.Redis | None = None
        self._pid = 0
        self._breaker = Breaker()

    def wake(self, dues: Mapping[int, float]) -> int:
        """Signal the dispatchers of the shards whose next look would be too late for what is due (shard -> epoch
        seconds, database clock); returns how many signals that took."""
        # Asked now, after the commit: what was far from due when it was scheduled may be overdue by then.
        far = time.time() + max(FAR_SECONDS, 2 * conf().LOOK_SECONDS)
        pairs = [word for shard, due in dues.items() if due < far for word in (shard, repr(due))]
        keys = conf().redis_key(NEXT_LOOK), conf().redis_key(SIGNAL)
        return self._try(lambda redis: redis.eval(_SIGNAL, 2, *keys, *pairs)) if pairs else 0

    def wake_all(self) -> int:
        """Something that may concern every shard: a worker has come, a lane goes on."""
        return self.wake(dict.fromkeys(range(conf().SHARDS), 0.0))

    def tell(self, node_ids: Iterable[str]) -> None:
        """These beats should look at their leases now."""
        for node_id in node_ids:
            self._try(partial(_tell, conf().redis_key(FLEET + node_id)))

    def _try(self, action: "Callable[[redis.Redis], Any]") -> int:
        if self._breaker.open:
            return 0
        try:
            if self._client is None or self._pid != os.getpid():
                self._client, self._pid = client(conf().WAKEUP_MS / 1000), os.getpid()
            answer: int = action(self._client)
            self._breaker.worked()
            return answer
        except Exception as error:
            # Anything at all: a task is written already, and its caller must not hear of Redis.
            self._breaker.trip()
            log.warning("wakeup.failed error=%r pause_seconds=%g", str(error), self._breaker.pause_seconds)
            return 0


SENDER = Sender()


class _Pending:
    """The earliest due moment of one transaction in each shard; sends the signals for them when it commits."""

    def __init__(self, dues: Mapping[int, float]) -> None:
        self.dues = dict(dues)

    def add(self, dues: Mapping[int, float]) -> None:
        for shard, due in dues.items():
            self.dues[shard] = min(due, self.dues.get(shard, due))

    def send(self) -> None:
        SENDER.wake(self.dues)


def wake_on_commit(dues: Mapping[int, float]) -> None:
    """Signal once after the caller's commit, for the earliest of all tasks it scheduled; never after a rollback."""
    connection = our_connection()
    if connection.autocommit and not in_transaction(connection):
        SENDER.wake(dues)
        return
    pending = getattr(connection, "_punctual_pending", None)
    if pending is not None and runs_on_commit(connection, pending.send):  # else it is left of an earlier transaction
        pending.add(dues)
        return
    pending = connection._punctual_pending = _Pending(dues)
    connection.on_commit(pending.send, robust=True)
