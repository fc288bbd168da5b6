"""The outbox: what happened, to a task or in another app, written in the transaction in which it happened."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class OutboxEvent(OurModel):
    tenant = models.CharField(max_length=63, db_collation="C")
    event = models.CharField(max_length=50)
    task_id = models.BigIntegerField(null=True, help_text="The task it is about; empty for an app's own events.")
    payload = models.JSONField(null=True, help_text="What an app's own event carries.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_outbox"  # partitions by created_at
