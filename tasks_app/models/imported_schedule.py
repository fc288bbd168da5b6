"""A schedule of django-celery-beat that became a job: what it was before, so that it can be taken back."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel


class ImportedSchedule(OurModel):
    periodic_task = models.BigIntegerField(help_text="Its id in django-celery-beat.")
    name: str = models.CharField(max_length=200)
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    job = models.BigIntegerField()
    revision = models.IntegerField(help_text="Of the job when it was made: another one says that somebody changed it.")
    switched_off = models.BooleanField(help_text="It was on, and the import switched it off.")
    last_run_at = models.DateTimeField(null=True, help_text="When Celery had run it last.")
    fingerprint = models.CharField(max_length=32, help_text="Of its row: another one says that somebody changed it.")
    imported_at = models.DateTimeField(db_default=Now())
    undone_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "punctual_imported_schedule"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["periodic_task"], name="punctual_imported_schedule_once", condition=Q(undone_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return self.name
