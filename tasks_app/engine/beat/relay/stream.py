"""Events to a Redis stream."""

import json
import time
from collections.abc import Iterator, Sequence

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from tasks_app.conf import conf
from tasks_app.core.events import Event
from tasks_app.models import Subscription

from .sink import Attempt

AT_ONCE = 500  # events in one call: Redis does nothing else meanwhile
TIMEOUT_SECONDS = 5.0
_encode = json.JSONEncoder(separators=(",", ":")).encode

# All or nothing, in order, and one command instead of hundreds.
_ADD = """
for i = 2, #ARGV, 3 do
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', 'id', ARGV[i], 'type', ARGV[i + 1], 'event', ARGV[i + 2])
end
return (#ARGV - 1) / 3
"""


class StreamSink:
    """An entry for each event: its `id`, its `type`, and the whole `event` as JSON."""

    def __init__(self, subscription: Subscription) -> None:
        target = subscription.target
        self._key = stream_key(target["stream"])
        self._maxlen = target["maxlen"]
        self._client = redis.Redis.from_url(
            conf().BROKERS[target["broker"]] if target["broker"] else conf().REDIS_URL,
            socket_timeout=TIMEOUT_SECONDS,
            socket_connect_timeout=TIMEOUT_SECONDS,
            retry=Retry(NoBackoff(), 0),  # after a lost answer we would not know what is there
            protocol=2,
            driver_info=None,
        )

    def deliver(self, events: Sequence[Event]) -> Iterator[Attempt]:
        for first in range(0, len(events), AT_ONCE):
            some = events[first : first + AT_ONCE]
            begun = time.perf_counter()
            words = [word for one in some for word in (one.id, one.type, _encode(one.as_json()))]
            self._client.eval(_ADD, 1, self._key, self._maxlen, *words)
            yield Attempt(some, True, "added", (time.perf_counter() - begun) * 1000)

    def close(self) -> None:
        self._client.close()


def stream_key(name: str) -> str:
    return conf().redis_key(f"stream:{name}")
