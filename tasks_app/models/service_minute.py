"""A minute of the whole installation: whether it was available, and sums up to here, so that any window is the
difference of two rows."""

from django.db import models
from django.db.models import Q

from tasks_app.core.service_levels import State

from .base import ArrayField, OurModel


def _lanes(says: str) -> ArrayField:
    return ArrayField(models.CharField(max_length=8, db_collation="C"), help_text=says)


class ServiceMinute(OurModel):
    minute = models.DateTimeField(primary_key=True)
    state = models.CharField(max_length=4, help_text="UP, DOWN; or IDLE: no lane was served.")
    served = _lanes("Lanes in which a canary should have flown.")
    down = _lanes("Of these, where it did not come back in time.")
    lost = _lanes("Lanes whose last worker died, and none came back.")
    paused = _lanes("Lanes that would be served if nobody had paused them.")

    # Of all minutes up to this one.
    up_minutes = models.IntegerField()
    down_minutes = models.IntegerField()
    ok = models.BigIntegerField(help_text="Runs that succeeded; no canaries.")
    failed = models.BigIntegerField()
    lateness = ArrayField(models.BigIntegerField(), help_text="Histogram, see core/lateness.py.")

    class Meta:
        db_table = "punctual_service_minute"
        default_permissions = ()  # who may see tasks may see these
        indexes = [
            models.Index(fields=["-minute"], name="punctual_service_minute_down", condition=Q(state=State.DOWN.value))
        ]

    def __str__(self) -> str:
        return f"{self.minute:%Y-%m-%d %H:%M} {self.state}"
