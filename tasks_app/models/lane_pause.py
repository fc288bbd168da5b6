"""A lane that a person has paused: nothing of it is claimed, and what has not started goes back to due."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class LanePause(OurModel):
    lane = models.CharField(max_length=8, primary_key=True, db_collation="C")
    reason = models.TextField()
    paused_by = models.CharField(max_length=150)
    paused_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_lane_pause"

    def __str__(self) -> str:
        return f"{self.lane}: {self.reason}"
