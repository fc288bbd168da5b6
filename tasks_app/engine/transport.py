"""The broker's transport: kombu's for Redis, but a message that can't be read is dropped, not the end of the worker.

Whoever can write to Redis, by mistake too, could otherwise end one worker with every line that is not a message:
kombu raises in the worker's event loop, and Celery takes what it doesn't know for unrecoverable.
"""

import logging

from kombu.transport import redis

log = logging.getLogger(__name__)

# What kombu raises for bytes that are not JSON, JSON that is no envelope, and an envelope without its parts.
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError)


class Channel(redis.Channel):
    def _brpop_read(self, **options):
        try:
            return super()._brpop_read(**options)
        except UNREADABLE:
            # Its batch, if it was one, is brought back by the dispatch lease.
            log.exception("message.unreadable")
            return True


class Transport(redis.Transport):
    Channel = Channel
