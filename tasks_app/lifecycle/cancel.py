"""cancel: whatever is live of a unit stops being so, with a reason and by whom."""

from dataclasses import dataclass

from tasks_app.conf import conf
from tasks_app.core.errors import ScheduleConflict
from tasks_app.core.states import is_live
from tasks_app.models import ScheduleTask
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
    params = {"tenant": tenant, "type": task_type, "key": key, "reason": reason, "by": by, "kept": conf().kept_kinds}
    for _ in range(ROUNDS):
        moved = run("cancel", params)
        if moved:
            [(task_id, ran)] = moved
            if ran:
                # By a statement of its own: the first may have waited for whoever handed the task over.
                run("forget_away", {"ids": array([task_id])})
            return Cancelled(True, task_id, "CANCELLED")
        row = (
            ScheduleTask.objects.filter(tenant=tenant, task_type=task_type, biz_key=key, current=True)
            .values_list("id", "status", "due_at")
            .first()
        )
        if row is None:
            over = past_units([unit]).get(unit)
            return Cancelled(False, over and over.id, over and over.status)
        task_id, status, due_at = row
        if not is_live(status, due_at is not None):
            return Cancelled(False, task_id, status)
        # Somebody replaced the row while we waited for it: the new one is live, so look again.
    raise ScheduleConflict(f"unit {unit!r} was replaced {ROUNDS} times while it was being cancelled. Try again.")
