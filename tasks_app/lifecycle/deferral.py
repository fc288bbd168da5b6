"""defer: what tasks hand on is checked when they say so, and written with their outcomes."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from tasks_app.core.deferral import MOST, Deferral
from tasks_app.core.errors import InvalidTask
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Task
from tasks_app.sql import array, run
from tasks_app.sql.binary import BigintArray

from .decisions import Outcome
from .request import Key, build, checked_seconds
from .schedule import schedule_unbound
from .shards import shards_of


class HandedOn(NamedTuple):
    """One effect, and the task that could not have it."""

    task: Task
    deferral: Deferral


def lock_to_defer(batch_no: UUID, ids: BigintArray, handed: Sequence[HandedOn]) -> set[int] | None:
    """Lock the batch, these rows, and the current rows of the units that take over, in order of id.

    Returns the ids that are still ours; None if the batch isn't.
    """
    tenants, types, keys = zip(*(one.deferral.request.unit for one in handed), strict=True)
    units = {"tenants": list(tenants), "types": list(types), "keys": list(keys)}
    rows = run("lock_to_defer", {"batch_no": batch_no, "ids": ids} | units)
    return set(rows[0][0]) if rows else None


def hand_on(batch_no: UUID, handed: Sequence[HandedOn]) -> dict[int, float]:
    """Schedule the effects in the settle's transaction, and link them with their tasks, which are RUNNING and locked.

    Returns when the first of the new tasks is due, for each shard that has any.
    """
    if not handed:
        return {}
    requests = [one.deferral.request for one in handed]
    answers = schedule_unbound(requests)
    new = [answer.outcome is Outcome.CREATED for answer in answers]
    run(
        "link_deferred",
        {
            "batch_no": batch_no,
            "parents": array(one.task.id for one in handed),
            "children": array(answer.task_id for answer in answers),
            "new": new,
            "tokens": [str(one.task.token) for one in handed],
            "retry_for": [one.deferral.retry_for for one in handed],
        },
    )
    first: dict[int, float] = {}
    for shard, answer in zip(shards_of(*zip(*(r.unit for r in requests), strict=True)), answers, strict=True):
        if answer.due is not None:
            first[shard] = min(answer.due, first.get(shard, answer.due))
    return first


def checked(
    task: Task,
    task_type: str,
    key: Key,
    payload: object,
    *,
    delay: timedelta | float | None,
    for_: timedelta | float | None,
    lane: str,
) -> Deferral:
    if len(task.deferred) >= MOST:
        raise InvalidTask(
            f"task {task.id} has deferred {MOST} effects, and no task may defer more. Defer one that takes care of all "
            "of them, or use schedule_many()."
        )
    tenant = REGISTRY.require(task_type).tenant or task.tenant
    request = build(task_type, key, payload=payload, delay=delay, lane=lane, tenant=tenant)
    if request.unit == (task.tenant, task.type, task.key):
        raise InvalidTask(
            f"task {task.id} defers {task_type} {request.unit[2]!r}, which is its own unit. To try it again later, "
            "raise RetryableError or Snooze; to hand an effect on, name another type or key."
        )
    retry_for = None if for_ is None else checked_seconds("for_", for_)
    return Deferral(task_type, request.unit[2], payload, retry_for, request)
