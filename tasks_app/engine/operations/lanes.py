"""Pausing and resuming lanes; who did it and why is written down with the deed."""

from django.db.models.functions import Now

from tasks_app.core.errors import InvalidTask
from tasks_app.core.handlers import refuse_bad_lane
from tasks_app.database import atomic, on_commit
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.outbox import tell
from tasks_app.models import LanePause, LaneResume, MaintenanceEntry


def pause(lane: str, *, reason: str, by: str) -> bool:
    """From now on nothing of the lane is started; False if it was paused already, and then nothing changes."""
    refuse_bad_lane(lane, InvalidTask)
    operator = Operator(by, reason)
    with atomic(savepoint=False):
        note = {"reason": reason, "paused_by": by}
        created: bool
        _, created = LanePause.objects.get_or_create(lane=lane, defaults=note)
        if created:
            audit(operator, "pause", [Entry(f"lane {lane}", "paused")])
            tell("lane.paused", {"lane": lane, "reason": reason, "by": by})
    return created


def resume(lane: str, *, reason: str, by: str) -> bool:
    """The lane goes on, at once; False if it was not paused."""
    refuse_bad_lane(lane, InvalidTask)
    operator = Operator(by, reason)
    with atomic(savepoint=False):
        deleted, _ = LanePause.objects.filter(lane=lane).delete()
        if deleted:
            LaneResume.objects.update_or_create(lane=lane, defaults={"resumed_at": Now()})
            audit(operator, "resume", [Entry(f"lane {lane}", "resumed")])
            tell("lane.resumed", {"lane": lane, "by": by})
            # It may have been paused before it had a canary: the beats should look at once.
            MaintenanceEntry.objects.filter(name="canary").update(next_at=Now())
    on_commit(SENDER.wake_all)
    return bool(deleted)
