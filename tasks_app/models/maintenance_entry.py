"""A periodic chore of the beats, run by one of them each time it is due."""

from django.db import models


class MaintenanceEntry(models.Model):
    name = models.CharField(max_length=50, primary_key=True)
    next_at = models.DateTimeField()
    ran_at = models.DateTimeField(null=True)
    ran_by = models.CharField(max_length=200, db_default="")

    class Meta:
        db_table = "maintenance_entry"
        verbose_name_plural = "maintenance entries"

    def __str__(self) -> str:
        return self.name
