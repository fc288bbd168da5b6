"""The broker's transport: kombu's for Redis, which takes exactly our messages from the lanes' queues.

Whoever can write to Redis, by mistake too, could otherwise end or stall a worker: kombu decompresses and decodes what
comes, in the worker's event loop, and Celery takes an error there for unrecoverable.
"""

import logging
import time
from queue import Empty
from typing import TYPE_CHECKING, Any

from kombu.transport import redis
from kombu.utils.encoding import bytes_to_str

from tasks_app.core.lanes import LANES
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.envelope import NotOurs, read
from tasks_app.engine.queues import BrokenLanes, is_wrong_type

from .draining import DRAINING

log = logging.getLogger(__name__)

# So many refused messages are told one by one in LINES_SECONDS, of more only how many they were.
LINES = 20
LINES_SECONDS = 60.0


if TYPE_CHECKING:
    from kombu.transport.redis import Channel as _Beside
else:
    _Beside = object


class _OurChannel(_Beside):
    """What we do otherwise than kombu's channel beside it among the bases."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._broken = BrokenLanes()
        self._shut = False  # on a copy, or if this worker is drained, a message is left to others
        super().__init__(*args, **kwargs)

    def _brpop_start(self, timeout: float | None = None) -> None:
        _refusals.tell_rest()
        shut = DRAINING.on or not BARRIER.open
        if self._broken or self._shut != shut:
            self._broken.look_again()
            self._shut = shut
            self._update_queue_cycle()
        super()._brpop_start(timeout)  # sends nothing if no queue is left

    def _update_queue_cycle(self) -> None:
        open_ones = [queue for queue in self.active_queues if queue not in self._broken]
        self._queue_cycle.update([] if self._shut else open_ones)

    def _brpop_read(self, **options: Any) -> bool:
        """kombu's, with our own eyes between what came and what is delivered."""
        try:
            try:
                found = self.client.parse_response(self.client.connection, "BRPOP", **options)
            except self.connection_errors:
                self.client.connection.disconnect()
                raise
            except self.ResponseError as error:
                if not is_wrong_type(error):
                    raise
                # One key that is no list fails the pop of all.
                self._broken.find(self.active_queues)
                self._update_queue_cycle()
                return True
            if not found:
                raise Empty
            key, item = found
            queue = bytes_to_str(key).rsplit(self.sep, 1)[0]
            self._queue_cycle.rotate(queue)
            if queue in LANES:
                self._deliver_ours(item, queue)
            else:
                self.connection._deliver(redis.loads(bytes_to_str(item)), queue)
            return True
        finally:
            self._in_poll = None
            if flush := getattr(self, "_flush_brpop_reauth", None):  # kombu 5.7 has it, 5.6 does not
                flush()

    def _deliver_ours(self, item: bytes, lane: str) -> None:
        try:
            message = read(item, lane)
        except NotOurs as error:
            # Its batch, if it was one, is brought back by the dispatch lease.
            _refusals.tell(lane, len(item), str(error))
            return
        self.connection._deliver(message, lane)

    def _size(self, queue: str) -> int:
        """Asked when a queue is declared: one that is no list must not keep a worker from starting."""
        try:
            size: int = super()._size(queue)
            return size
        except self.ResponseError as error:
            if not is_wrong_type(error):
                raise
            return 0


class Channel(_OurChannel, redis.Channel):
    pass


class SentinelChannel(_OurChannel, redis.SentinelChannel):
    pass


class Transport(redis.Transport):
    Channel = Channel


class SentinelTransport(redis.SentinelTransport):
    """Each new connection leads to the server that the sentinels name as the master."""

    Channel = SentinelChannel


class Refusals:
    """Tells of messages that were refused: each in a line of its own, but no more lines than anybody reads."""

    def __init__(self) -> None:
        self._since = 0.0
        self._told = 0
        self._untold = 0

    def tell(self, lane: str, size: int, reason: str) -> None:
        self.tell_rest()
        if self._told < LINES:
            self._told += 1
            log.warning("message.refused lane=%s bytes=%d reason=%r", lane, size, reason)
        else:
            self._untold += 1

    def tell_rest(self) -> None:
        now = time.monotonic()
        if now - self._since < LINES_SECONDS:
            return
        if self._untold:
            log.warning("message.refused more=%d seconds=%.0f", self._untold, now - self._since)
        self._since, self._told, self._untold = now, 0, 0


_refusals = Refusals()
