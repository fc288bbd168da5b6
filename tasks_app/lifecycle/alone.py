"""A single unit in the shortest way there is: one statement, or one that looks and one that writes.

The second writes only if nobody has written to the row since the first has looked (`version`), so neither needs a
transaction around them. Whatever is not as simple is left to schedule.py.
"""

from collections.abc import Callable
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.states import Status
from tasks_app.core.tokens import packed_uuids
from tasks_app.sql import run

from .decisions import CurrentRow, Outcome, Scheduled
from .request import Request
from .shards import shard_of_one

EVENTS = {Outcome.REPLACED: "task.replaced", Outcome.CREATED: "task.created"}  # of a row that takes over from another


class Edited(NamedTuple):
    """What one look came to."""

    row: CurrentRow | None  # None: there is none among what is live
    answer: Scheduled | None = None  # None: nothing was written, since it takes more


def insert_alone(request: Request) -> Scheduled | None:
    """A new row; None if the unit is taken or its tenant bound by something."""
    told = "task.created" in conf().kept_events
    row = _new_row(request) | ({"kept": conf().kept_kinds} if told else {})
    found = run("insert_told_task" if told else "insert_task", row)
    return Scheduled(Outcome.CREATED, *found[0]) if found else None


def insert_over(request: Request, over: CurrentRow, by: str) -> Scheduled | None:
    """A new row that takes over from one that is over; None if somebody changed that, or the tenant is bound."""
    params = _new_row(request) | replaced(over, Outcome.CREATED, by)
    for new in run("insert_over", params):
        return Scheduled(Outcome.CREATED, *new)
    return None


def edit_alone(request: Request, decide: Callable[[CurrentRow], Outcome], by: str) -> Edited:
    """Give a unit, which keeps its payload, another time."""
    (tenant, task_type, key), at, delay, *_ = request
    params = {"tenant": tenant, "task_type": task_type, "key": key, "at": at, "delay": delay}
    found = run("move_alone", params | {"told": "task.updated" in conf().kept_events})
    if not found:
        return Edited(None)
    [(*columns, due)] = found
    row = CurrentRow(*columns)
    if due is not None:
        return Edited(row, Scheduled(Outcome.UPDATED, row.id, due))
    outcome = decide(row)
    if outcome in (Outcome.EXISTS, Outcome.IGNORED):
        return Edited(row, Scheduled(outcome, row.id))
    if outcome is Outcome.UPDATED or row.job is not None:
        return Edited(row)  # it waits for others, or others may wait for it
    for new in run("replace_alone", {"at": at, "delay": delay} | replaced(row, outcome, by)):
        return Edited(row, Scheduled(outcome, *new))
    return Edited(row)


def replaced(row: CurrentRow, outcome: Outcome, by: str) -> dict[str, object]:
    """The parameters of a statement in which a new row takes over from this one."""
    hand_on = row.status != Status.SUCCESS
    return {
        "old": row.id,
        "old_status": row.status,
        "old_version": row.version,
        "hand_on": hand_on,
        "idem_key": row.idem_key if hand_on else None,
        "became": EVENTS[outcome],
        "by": by,
        "kept": conf().kept_kinds,
    }


def _new_row(request: Request) -> dict[str, object]:
    (tenant, task_type, key), at, delay, payload, lane, max_retry, repeat_after, expires_after, _ = request
    if payload is None:
        REGISTRY.refuse_without_payload([task_type])
    return {
        "tenant": tenant,
        "task_type": task_type,
        "biz_key": key,
        "at": at,
        "delay": delay,
        "payload": payload or "{}",
        "lane": lane,
        "max_retry": max_retry,
        "repeat_after": repeat_after,
        "expires_after": expires_after,
        "shard": shard_of_one(tenant, task_type, key),
        "limited": REGISTRY.is_limited(task_type),
        "token": packed_uuids(1).hex(),
    }
