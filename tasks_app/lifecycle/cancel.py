"""cancel: whatever is live of a unit stops being so, with a reason and by whom."""

from dataclasses import dataclass

from tasks_app.conf import conf
from tasks_app.core.errors import ScheduleConflict
from tasks_app.core.states import Status, is_live
from tasks_app.sql import array, run

from .past import past_units
from .request import Unit
from .schedule import ROUNDS


@dataclass(frozen=True, slots=True)
class Cancelled:
    cancelled: bool
    task_id: int | None  # the unit's current row, if it has one
    status: str | None  # what that row is now


def cancel(unit: Unit, reason: str, by: str) -> Cancelled:
    """Cancel the unit's live row; a unit that is finished or unknown stays as it is, and the answer says so."""
    tenant, task_type, key = unit
    params: dict[str, object] = {"tenant": tenant, "type": task_type, "key": key, "reason": reason, "by": by}
    params["told"] = "task.cancelled" in conf().kept_events
    for _ in range(ROUNDS):
        found = run("cancel", params)
        if not found:
            over = past_units([unit]).get(unit)
            return Cancelled(False, over and over.id, over and over.status)
        [(task_id, status, due, cancelled)] = found
        if cancelled:
            if status == Status.AWAY:
                # By a statement of its own: the first may have waited for whoever handed the task over.
                run("forget_away", {"ids": array([task_id])})
            return Cancelled(True, task_id, "CANCELLED")
        if not is_live(status, due):
            return Cancelled(False, task_id, status)
        # Somebody replaced the row while we waited for it: the new one is live, so look again.
    raise ScheduleConflict(f"unit {unit!r} was replaced {ROUNDS} times while it was being cancelled. Try again.")
