"""Dead letters: replaying a task that gave up."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks_app.conf import conf
from tasks_app.sql import run


@dataclass(frozen=True, slots=True)
class Replayed:
    replayed: list[int]
    superseded: list[int]  # not DEAD any more, or no longer the current row of their unit


def replay(task_ids: Sequence[int], by: str) -> Replayed:
    """Start the dead again with a new budget, as long as nothing newer stands in their place."""
    params = {"ids": list(task_ids), "by": by, "kept": conf().kept_kinds}
    moved = [task_id for (task_id,) in run("replay", params)]
    return Replayed(moved, [task_id for task_id in task_ids if task_id not in set(moved)])
