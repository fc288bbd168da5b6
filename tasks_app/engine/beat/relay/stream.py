"""Events to a Redis stream."""

import time
from collections.abc import Iterator, Sequence

import redis

from tasks_app.conf import conf
from tasks_app.core.events import Event
from tasks_app.engine.wakeup import client
from tasks_app.models import Subscription

from .encoding import json_texts
from .sink import Attempt

AT_ONCE = 500  # events in one call: Redis does nothing else meanwhile
TIMEOUT_SECONDS = 5.0

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
        # Without retries: after a lost answer we would not know what is there.
        self._client = client(TIMEOUT_SECONDS, conf().BROKERS[target["broker"]] if target["broker"] else "")

    def deliver(self, events: Sequence[Event]) -> Iterator[Attempt]:
        for first in range(0, len(events), AT_ONCE):
            some = events[first : first + AT_ONCE]
            begun = time.perf_counter()
            self._add(some)
            yield Attempt(some, True, "added", (time.perf_counter() - begun) * 1000)

    def close(self) -> None:
        self._client.close()

    def _add(self, events: Sequence[Event]) -> None:
        """redis-py takes as long to pack a command as Redis takes to run it: so many words are packed here."""
        words = ["EVAL", _ADD, "1", self._key, str(self._maxlen)]
        for event, text in zip(events, json_texts(events), strict=True):
            words += (event.id, event.type, text)
        encoded = [word.encode() for word in words]
        packed = b"".join([b"$%d\r\n%b\r\n" % (len(word), word) for word in encoded])
        connection = self._client.connection_pool.get_connection()
        try:
            connection.send_packed_command([b"*%d\r\n" % len(encoded), packed])
            connection.read_response()
        except redis.ResponseError:
            raise  # it was understood, and refused
        except BaseException:
            connection.disconnect()
            raise
        finally:
            self._client.connection_pool.release(connection)


def stream_key(name: str) -> str:
    return conf().redis_key(f"stream:{name}")
