"""Events to a Redis stream."""

import time
from collections.abc import Iterator, Sequence

from tasks_app.conf import conf
from tasks_app.core.events import Event
from tasks_app.engine.wakeup import client
from tasks_app.libraries.redis import borrowed
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
        """A call follows when the one before it was answered. Its words are packed meanwhile."""
        parts = [events[first : first + AT_ONCE] for first in range(0, len(events), AT_ONCE)]
        packed = self._packed(parts[0]) if parts else b""
        for place, some in enumerate(parts):
            begun = time.perf_counter()
            with borrowed(self._client) as link:
                link.send_packed(packed)
                packed = self._packed(parts[place + 1]) if place + 1 < len(parts) else b""
                link.read()
            yield Attempt(some, True, "added", (time.perf_counter() - begun) * 1000)

    def close(self) -> None:
        self._client.close()

    def _packed(self, events: Sequence[Event]) -> bytes:
        """redis-py takes as long to pack a command as Redis takes to run it: so many words are packed here.

        Names of events and their JSON are ASCII, so a word has as many bytes as letters.
        """
        first = ["EVAL", _ADD, "1", self._key, str(self._maxlen)]
        head = b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in map(str.encode, first))
        words = []
        for event, text in zip(events, json_texts(events), strict=True):
            number, kind = event.id, event.type
            words.append(f"${len(number)}\r\n{number}\r\n${len(kind)}\r\n{kind}\r\n${len(text)}\r\n{text}\r\n")
        return b"*%d\r\n" % (len(first) + 3 * len(events)) + head + "".join(words).encode("ascii")


def stream_key(name: str) -> str:
    return conf().redis_key(f"stream:{name}")
