"""How far a task that runs says it is: a hint for people, gone when its run is over."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class TaskProgress(OurModel):
    task = models.BigIntegerField(primary_key=True)
    fraction = models.FloatField(null=True, help_text="From 0 to 1; empty: it doesn't know.")
    note = models.TextField(db_default="")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        # Written again and again, by a heap-only update: no index may have any other column.
        db_table = "punctual_progress"
        default_permissions = ()

    def __str__(self) -> str:
        return f"task {self.task}: {self.fraction} {self.note}"
