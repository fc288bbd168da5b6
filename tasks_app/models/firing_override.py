"""What somebody decided for one firing of a job: it is skipped, or comes at another time."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class FiringOverride(OurModel):
    """The planner makes no instance of a firing that has one; a moved one gets its instance when it is moved."""

    job = models.BigIntegerField()
    fire_time = models.DateTimeField(help_text="When it would fire by the schedule; the instance keeps this.")
    moved_to = models.DateTimeField(null=True, help_text="When it runs instead; empty: it is skipped.")
    placed = models.BooleanField(db_default=False, help_text="Moved, and its instance was made.")
    decided_by = models.CharField(max_length=150)
    reason = models.TextField()
    decided_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_firing_override"
        constraints = [models.UniqueConstraint(fields=["job", "fire_time"], name="punctual_firing_override_one")]
        default_permissions = ()

    def __str__(self) -> str:
        return f"job {self.job}, {self.fire_time}"
