"""When a lane was last resumed: what waited for that is not late before."""

from django.db import models

from .base import OurModel


class LaneResume(OurModel):
    lane = models.CharField(max_length=8, primary_key=True, db_collation="C")
    resumed_at = models.DateTimeField()

    class Meta:
        db_table = "punctual_lane_resume"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.lane}: {self.resumed_at}"
