"""What the API answered to a keyed request, written in the transaction of what it did."""

from django.db import models
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel


class IdempotencyRecord(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    key = models.CharField(max_length=150, db_collation="C")
    fingerprint = models.CharField(max_length=64, help_text="Of the request: the same key with another one is refused.")
    status = models.SmallIntegerField()
    body = models.TextField(null=True, help_text="Of the answer, byte for byte; empty: it has none.")
    answer = models.JSONField(null=True)  # of records of the version before, which had no body
    reach = models.JSONField(null=True, help_text="The rights of its caller then: a replay needs them too.")
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_idempotency_record"
        constraints = [models.UniqueConstraint(fields=["tenant", "key"], name="punctual_idempotency_record_key")]
        indexes = [models.Index(fields=["created_at"], name="punctual_idempotency_age")]
