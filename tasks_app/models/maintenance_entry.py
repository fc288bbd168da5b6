"""A periodic chore of the beats, run by one of them each time it is due, and what became of it."""

from django.db import models

from .base import OurModel


class MaintenanceEntry(OurModel):
    name: str = models.CharField(max_length=50, primary_key=True)
    next_at = models.DateTimeField()
    ran_at = models.DateTimeField(null=True, help_text="When a beat last took it.")
    ran_by = models.CharField(max_length=200, db_default="")
    done_at = models.DateTimeField(null=True, help_text="When it was last done to its end.")
    failures = models.IntegerField(db_default=0, help_text="In a row, since it was last done.")
    failing_since = models.DateTimeField(null=True, help_text="The first of these failures.")
    error = models.TextField(db_default="", help_text="The first line of the last of them.")

    class Meta:
        db_table = "punctual_chore"
        verbose_name_plural = "maintenance entries"

    def __str__(self) -> str:
        return self.name
