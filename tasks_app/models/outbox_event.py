"""The outbox: what happened to a task, written in the transaction in which it happened."""

from django.db import models
from django.db.models.functions import Now


class OutboxEvent(models.Model):
    tenant = models.CharField(max_length=63, db_collation="C")
    event = models.CharField(max_length=50)
    task_id = models.BigIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "outbox_event"
