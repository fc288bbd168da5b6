"""The worker's consumer: Celery's, but it looks for a lost broker often, and survives finding it as a child ends."""

from functools import partial
from typing import Any

from celery.worker import consumer

# Celery waits 2 s longer after each try in vain, up to 30 s: half a minute of nothing after a long outage has ended.
RECONNECT = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2.0}


class Consumer(consumer.Consumer):
    def ensure_connected(self, conn: Any) -> Any:
        conn.ensure_connection = partial(conn.ensure_connection, **RECONNECT)
        return super().ensure_connected(conn)

    def loop_args(self) -> Any:
        """Called whenever the event loop begins, just before the pool's children are registered with it."""
        watch_again(self.pool)
        return super().loop_args()


def watch_again(pool: Any) -> None:
    """Let Celery watch children again that it has stopped watching.

    A process that ends closes its files a moment before its parent can ask for its status. Celery takes the first for
    its end and stops watching it; if the second is not there yet, the child stays in the pool until the next look, up
    to 5 s later. Should the event loop begin anew meanwhile, since the broker was lost, Celery would register what it
    has closed, and end with `ValueError: file descriptor is None`. Without the note that it has closed it, it opens it
    again, is told of the end at once, and replaces the child.
    """
    children = getattr(getattr(pool, "_pool", None), "_pool", None) or ()  # only a prefork pool has any
    for child in children:
        if getattr(child, "_sentinel_poll", 0) is None:
            del child._sentinel_poll
