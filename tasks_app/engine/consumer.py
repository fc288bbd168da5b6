"""The worker's consumer: Celery's, but it looks for a lost broker often, however long it has been away."""

from functools import partial

from celery.worker import consumer

# Celery waits 2 s longer after each try in vain, up to 30 s: half a minute of nothing after a long outage has ended.
RECONNECT = {"interval_start": 0.5, "interval_step": 0.5, "interval_max": 2.0}


class Consumer(consumer.Consumer):
    def ensure_connected(self, conn):
        conn.ensure_connection = partial(conn.ensure_connection, **RECONNECT)
        return super().ensure_connected(conn)
