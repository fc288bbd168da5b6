"""audit: what a person did, written in the transaction in which it was done."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from tasks_app.core.errors import InvalidTask
from tasks_app.sql import run

from .request import checked_name, checked_reason

ACTOR_LENGTH = 150
REASON_LENGTH = 1000
ADDRESS_LENGTH = 200

# Where whoever acts in this thread does it from; None: the scheduler itself acts.
_address: ContextVar[str | None] = ContextVar("address", default=None)


@dataclass(frozen=True, slots=True)
class Operator:
    """Who acts, and why. One operation acts on a subject once, however often it is sent."""

    name: str
    reason: str
    operation: UUID = field(default_factory=uuid4)
    tenant: str | None = None  # of the token, or of a member who makes alarms; None: a person, or the scheduler

    def __post_init__(self) -> None:
        checked_name("operator", self.name, ACTOR_LENGTH)
        if isinstance(self.reason, str) and not self.reason.strip():
            raise InvalidTask("the reason is empty; say briefly why, for whoever reads it later.")
        checked_reason("reason", self.reason, REASON_LENGTH)


class Entry(NamedTuple):
    """One subject and what became of it."""

    subject: str
    outcome: str
    task_id: int | None = None
    detail: dict[str, Any] | None = None
    tenant: str | None = None  # whose task or job it is; None: what all tenants share
    task_type: str | None = None


def audit(operator: Operator, verb: str, entries: Sequence[Entry], *, checked: bool = False) -> None:
    """Call it inside the transaction of the deed: if that rolls back, nobody did anything.

    `checked`: the caller holds the operation's lock, and has left out what the operation has dealt with before.
    """
    if not entries:
        return
    if not checked:
        _refuse_twice(operator, [entry.subject for entry in entries])
    params = {
        "operation": operator.operation,
        "actor": operator.name,
        "verb": verb,
        "reason": operator.reason,
        "subjects": [entry.subject for entry in entries],
        "task_ids": [entry.task_id for entry in entries],
        "outcomes": [entry.outcome for entry in entries],
        "tenants": [entry.tenant for entry in entries],
        "types": [entry.task_type for entry in entries],
        "address": _address.get(),
        "details": [json.dumps(entry.detail) if entry.detail else None for entry in entries],
    }
    run("audit", params)


@contextmanager
def acting_from(address: str) -> Iterator[None]:
    """Whatever is audited meanwhile, in this thread, was done from there."""
    before = _address.set("".join(letter if letter.isprintable() else "?" for letter in address)[:ADDRESS_LENGTH])
    try:
        yield
    finally:
        _address.reset(before)


def _refuse_twice(operator: Operator, subjects: Sequence[str]) -> None:
    """Two at a time take turns, and who comes second sees what the first has written. No constraint could say it: that
    of a table in partitions by time has to contain the time."""
    run("lock_operation", {"operation": operator.operation})
    [twice] = Counter(subjects).most_common(1)
    done = run("acted_on", {"operation": operator.operation, "subjects": list(subjects)})
    if done or twice[1] > 1:
        subject = done[0][0] if done else twice[0]
        raise InvalidTask(
            f"this Operator ({operator.name!r}, {operator.reason[:60]!r}) has acted on {subject} already; "
            "one operation acts on a subject once. Make one Operator for each action."
        )
