"""The outbox: what happened, to tasks or in another app, written in the transaction in which it happened.

A row tells what one statement did for one tenant, so it may be a thousand events: entry n of each array is of event n.
`core.events.OutboxRow` takes it apart.
"""

from typing import Any

from django.db import models
from django.db.models import Func
from django.db.models.functions import Now

from .base import ArrayField, OurModel


class TransactionIdField(models.Field):
    """PostgreSQL's xid8: the number of a transaction, which never comes round."""

    def db_type(self, connection: Any) -> str:
        return "xid8"

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> int | None:
        return None if value is None else int(value)

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> str | None:
        return None if value is None else str(value)


class CurrentTransaction(Func):
    function = "pg_current_xact_id"
    template = "%(function)s()"
    output_field = TransactionIdField()
    allowed_default = True


class OutboxEvent(OurModel):
    tenant = models.CharField(max_length=63, db_collation="C")
    event = models.CharField(max_length=50)
    task_id = models.BigIntegerField(null=True, help_text="Written by versions before 0028 only, as is `payload`.")
    payload = models.JSONField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    xid = TransactionIdField(null=True, db_default=CurrentTransaction(), help_text="Of the transaction that wrote it.")
    task_type = models.CharField(max_length=100, null=True)
    worker = models.CharField(max_length=200, null=True)
    batch_no = models.UUIDField(null=True)
    count = models.IntegerField(db_default=1, help_text="How many events it is.")
    task_ids = ArrayField(models.BigIntegerField(), null=True)
    keys = ArrayField(models.TextField(), null=True)
    jobs = ArrayField(models.BigIntegerField(null=True), null=True)
    fire_times = ArrayField(models.DateTimeField(null=True), null=True)
    idem_keys = ArrayField(models.TextField(null=True), null=True)
    attempts = ArrayField(models.IntegerField(null=True), null=True)
    states = ArrayField(models.TextField(null=True), null=True)
    payloads = models.JSONField(null=True, help_text="A list: what each event carries.")

    class Meta:
        db_table = "punctual_outbox"  # partitions by created_at
        indexes = [models.Index(fields=["xid"], name="punctual_outbox_xid")]
