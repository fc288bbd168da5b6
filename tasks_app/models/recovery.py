"""A recovery: what was done after an incident, step by step, and how long each took."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.recovery import Grade

from .base import OurModel

INCIDENT_LENGTH = 100


class Recovery(OurModel):
    hold_minutes: int | None = None  # of the run that has begun it; kept with what its first step did
    incident = models.CharField(
        max_length=INCIDENT_LENGTH, db_collation="C", unique=True, help_text="As people call it; one recovery each."
    )
    grade = models.CharField(max_length=2)
    actor = models.CharField(max_length=150)
    reason = models.TextField()
    runs = models.IntegerField(
        db_default=1, help_text="How often it was begun or went on: who has an older number may do no step."
    )
    began_at = models.DateTimeField(db_default=Now(), help_text="When the incident began: the limits count from here.")
    started_at = models.DateTimeField(db_default=Now())
    finished_at = models.DateTimeField(null=True)
    trouble = models.JSONField(
        db_default={}, help_text="When it was begun: the first symptom that the database knew, and what may be lost."
    )
    steps = models.JSONField(db_default={}, help_text="By name: when each was begun and done, and what it did.")
    resumed = models.IntegerField(
        db_default=0, help_text="Shards that no live beat dispatched, and that are dispatched again."
    )
    replayed = models.BigIntegerField(db_default=0, help_text="Events that subscribers get again.")
    letters_moved = models.IntegerField(db_default=0, help_text="Dead letters whose tasks run again.")

    class Meta:
        db_table = "punctual_recovery"
        default_permissions = ()  # who may see tasks may see these
        verbose_name_plural = "recoveries"
        constraints = [
            models.CheckConstraint(condition=Q(grade__in=[one.value for one in Grade]), name="punctual_recovery_grade")
        ]

    def __str__(self) -> str:
        return f"recovery {self.incident}"
