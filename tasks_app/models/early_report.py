"""An outcome that was reported before the worker had written that the task is away: kept for that moment."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class EarlyReport(OurModel):
    task = models.BigIntegerField(primary_key=True)
    run = models.UUIDField()
    outcome = models.CharField(max_length=8, help_text="complete or fail.")
    body = models.JSONField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_early_report"
        default_permissions = ()
        indexes = [models.Index(fields=["at"], name="punctual_early_report_at")]

    def __str__(self) -> str:
        return f"task {self.task}: {self.outcome}"
