"""How many messages lie in the broker's queues."""

import redis
from django.conf import settings

from tasks_app.core.lanes import LANES

from .wakeup import client

_TIMEOUT_SECONDS = 0.5


def depths() -> dict[str, int] | None:
    """By lane; None: the broker does not answer."""
    prefix = settings.CELERY_BROKER_TRANSPORT_OPTIONS["global_keyprefix"]
    try:
        with client(_TIMEOUT_SECONDS) as broker, broker.pipeline(transaction=False) as pipeline:
            for lane in LANES:
                pipeline.llen(prefix + lane)
            return dict(zip(LANES, pipeline.execute(), strict=True))
    except (redis.RedisError, OSError):
        return None
