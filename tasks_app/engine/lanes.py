"""Pausing and resuming lanes."""

from tasks_app.core.errors import InvalidTask
from tasks_app.core.handlers import refuse_bad_lane
from tasks_app.lifecycle.request import checked_text
from tasks_app.models import LanePause

from .wakeup import SENDER

REASON_LENGTH = 1000
BY_LENGTH = 150


def pause(lane: str, *, reason: str, by: str) -> bool:
    """From now on nothing of the lane is started; False if it was paused already, and then nothing changes."""
    refuse_bad_lane(lane, InvalidTask)
    note = {
        "reason": checked_text("reason", reason, REASON_LENGTH),
        "paused_by": checked_text("by", by, BY_LENGTH),
    }
    _, created = LanePause.objects.get_or_create(lane=lane, defaults=note)
    return created


def resume(lane: str) -> bool:
    """The lane goes on, at once; False if it was not paused."""
    refuse_bad_lane(lane, InvalidTask)
    deleted, _ = LanePause.objects.filter(lane=lane).delete()
    SENDER.wake_all()
    return bool(deleted)
