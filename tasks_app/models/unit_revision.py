"""The last change of a unit's time that was applied, by the sender's own count: events may arrive out of order."""

from django.db import models
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel
from .schedule_task import KEY_LENGTH


class UnitRevision(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    task_type = models.CharField(max_length=100, db_collation="C")
    biz_key = models.CharField(max_length=KEY_LENGTH, db_collation="C")
    revision = models.BigIntegerField()
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_unit_revision"
        constraints = [
            models.UniqueConstraint(fields=["biz_key", "task_type", "tenant"], name="punctual_unit_revision_unit")
        ]
