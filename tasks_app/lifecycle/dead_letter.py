"""Dead letters: a task that gave up is replayed, or discarded."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks_app.sql import array, run


@dataclass(frozen=True, slots=True)
class Replayed:
    replayed: list[int]
    superseded: list[int]  # not DEAD any more, or no longer the current row of their unit


def replay(task_ids: Sequence[int], by: str) -> Replayed:
    """Start the dead again with a new budget, as long as nothing newer stands in their place."""
    moved = [task_id for (task_id,) in run("replay", {"ids": list(task_ids), "by": by})]
    return Replayed(moved, [task_id for task_id in task_ids if task_id not in set(moved)])


def discard(task_ids: Sequence[int], reason: str, by: str, tenant: str | None = None) -> list[int]:
    """Give the dead up for good: those that moved are CANCELLED. `tenant`: of the token that it was done through."""
    params = {"ids": array(task_ids), "reason": reason, "by": by, "from": tenant}
    return [task_id for (task_id,) in run("discard", params)]
