"""The limits of a task type, as the beat that was started last declared them, and its bucket of permits."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class TypeLimit(OurModel):
    task_type: str = models.CharField(max_length=100, primary_key=True, db_collation="C")
    rate = models.FloatField(null=True, help_text="Tasks a second; empty: no limit.")
    burst = models.FloatField(null=True, help_text="Tasks that may start at once after a pause.")
    max_running = models.IntegerField(null=True, help_text="Tasks that may run at the same time; empty: no limit.")
    permits = models.FloatField(db_default=0.0, help_text="Tasks that could start at filled_at.")
    filled_at = models.DateTimeField(db_default=Now())
    full_at = models.DateTimeField(null=True, help_text="When as many as may were last seen running.")

    class Meta:
        db_table = "punctual_type_limit"

    def __str__(self) -> str:
        return self.task_type
