"""Telling what happened, in the transaction in which it happened: `emit` for apps, `tell` for what is no task.

What happens to tasks is told by the statement that does it, by sql/events/tell.sql. What is not kept is not written.
"""

import json
from collections.abc import Iterable, Iterator, Sequence

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.core.events import KINDS, NAME_LENGTH, checked_own_name
from tasks_app.core.tenants import DEFAULT_TENANT, INTERNAL_TENANT, TENANT_LENGTH
from tasks_app.models.schedule_task import KEY_LENGTH
from tasks_app.sql import array, run, text_array

from .request import checked_json, checked_name

TYPE_LENGTH = 100
STEP = 1_000  # events in one row, at most,
STEP_BYTES = 1_000_000  # and about so much of what they carry


def emit(
    event: str,
    payloads: Iterable[object],
    tenant: str = DEFAULT_TENANT,
    *,
    task_type: str | None = None,
    keys: Sequence[object] | None = None,
) -> int:
    """One event for each payload, about the unit of the key beside it, if there are keys; returns how many are kept.

    Of one unit they are heard in the order in which they were told, as long as whoever tells has locked what they are
    about: a row of its own, or the unit's task.
    """
    event = checked_own_name(checked_name("event", event, NAME_LENGTH))
    tenant = checked_name("tenant", tenant, TENANT_LENGTH)
    texts = [checked_json("payload", payload) for payload in payloads]
    units = _checked_units(task_type, keys, len(texts))
    if event not in conf().kept_events:
        return 0
    for part in _steps(texts):
        _write(
            event,
            tenant,
            texts[part],
            task_type=task_type,
            keys=None if units is None else text_array(units[part]),
        )
    return len(texts)


def tell(
    event: str,
    data: object,
    *,
    tenant: str = INTERNAL_TENANT,
    task_type: str | None = None,
    key: str | None = None,
    task: int | None = None,
    job: int | None = None,
) -> None:
    """One event of Punctual's own that is not about what becomes of a task. What concerns all tenants is the internal
    one's."""
    kind = KINDS[event]
    if kind.name in conf().kept_events:
        _write(
            kind.name,
            tenant,
            [json.dumps(data)],
            task_type=task_type,
            keys=None if key is None else text_array([key]),
            task_ids=None if task is None else array([task]),
            jobs=None if job is None else array([job]),
        )


def _write(
    event: str,
    tenant: str,
    texts: Sequence[str],
    *,
    task_type: str | None = None,
    keys: str | None = None,
    task_ids: str | None = None,
    jobs: str | None = None,
) -> None:
    params = {"event": event, "tenant": tenant, "task_type": task_type, "count": len(texts)}
    params |= {"keys": keys, "task_ids": task_ids, "jobs": jobs, "payloads": f"[{','.join(texts)}]"}
    run("emit", params)


def _checked_units(task_type: str | None, keys: Sequence[object] | None, number: int) -> list[str] | None:
    if (task_type is None) != (keys is None):
        raise InvalidTask("an event is about a unit if it has both a task_type and a key; give both, or neither.")
    if keys is None:
        return None
    if len(keys) != number:
        raise InvalidTask(f"there are {number} payloads and {len(keys)} keys; give one key for each payload.")
    checked_name("task_type", task_type, TYPE_LENGTH)
    return [checked_name("key", str(key), KEY_LENGTH) for key in keys]


def _steps(texts: Sequence[str]) -> Iterator[slice]:
    first = size = 0
    for place, text in enumerate(texts):
        size += len(text)
        if place + 1 - first == STEP or size >= STEP_BYTES or place + 1 == len(texts):
            yield slice(first, place + 1)
            first, size = place + 1, 0
