"""Options of Celery that the project may not change."""

from collections.abc import Iterator
from typing import Any

from tasks_app.core.errors import shown

# Options of Celery that hold a promise up, each with what would become of it.
_KEPT = {
    "accept_content": "whoever can write to Redis could run code in a worker",
    "beat_scheduler": "nobody would dispatch",
    "beat_schedule": "Punctual's beat doesn't run Celery's schedules; make them jobs (`manage.py punctual_help jobs`)",
    "broker_read_url": 'beats and workers meet at PUNCTUAL["REDIS_URL"]',
    "broker_transport": "a message that is not ours could end a worker",
    "broker_url": 'beats and workers meet at PUNCTUAL["REDIS_URL"]',
    "broker_write_url": 'beats and workers meet at PUNCTUAL["REDIS_URL"]',
    "imports": "a worker would not know how to run a batch",
    "task_acks_late": "the lease recovers lost work; a late ack would run it twice",
    "task_always_eager": "batches would run inside the dispatcher",
    "task_publish_retry": "a stalled Redis would hold up the dispatcher",
    "task_queues": "there is one queue for each lane",
    "task_reject_on_worker_lost": "a task that kills its worker would be delivered for ever",
    "task_soft_time_limit": "it would end whole batches; give each handler its own timeout",
    "task_time_limit": "it would end whole batches; give each handler its own timeout",
    "worker_consumer": "Celery's own ends the worker if a child ends while the broker is away",
}
# Of its option broker_transport_options; the others are the project's to change, one by one.
_KEPT_OF_TRANSPORT = {
    "ack_emulation": "it loses and doubles messages when a worker is killed, and the lease recovers lost work",
    "global_keyprefix": 'it is PUNCTUAL["PREFIX"], for all keys in Redis',
    "priority_steps": "a lane is one list; its priority is the lane itself",
    "queue_order_strategy": "lanes are served by their weights",
}


def problems_of(given: dict[str, Any]) -> Iterator[str]:
    for name in given:
        if name in _KEPT:
            yield f'PUNCTUAL["CELERY"] has {shown(name)}: {_KEPT[name]}. Leave it out.'
        elif not isinstance(name, str) or not name.islower():
            yield (
                f'PUNCTUAL["CELERY"] has {shown(name)}; options have Celery\'s own names in lower case, such as '
                "'worker_max_memory_per_child'."
            )
    options, where = given.get("broker_transport_options", {}), 'PUNCTUAL["CELERY"]["broker_transport_options"]'
    if not isinstance(options, dict):
        yield f"{where} is {shown(options)}; it must be a dict."
        return
    for name in _KEPT_OF_TRANSPORT.keys() & options.keys():
        yield f"{where} has {shown(name)}: {_KEPT_OF_TRANSPORT[name]}. Leave it out."
