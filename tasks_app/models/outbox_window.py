"""A stretch of the outbox that is complete: what was committed between two looks. Subscribers read them in order."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class OutboxWindow(OurModel):
    """The rows of which `after` sees the transaction and `before` does not: snapshots, as PostgreSQL writes them.

    The first one, and the one that comes after a restore, has no `before`: it has all rows between its ids.
    """

    no = models.BigIntegerField(primary_key=True)
    before = models.TextField(null=True)
    after = models.TextField()
    floor_id = models.BigIntegerField(
        db_default=0,
        help_text="Rows up to this one were written by another server: its transactions mean nothing here.",
    )
    min_id = models.BigIntegerField()
    max_id = models.BigIntegerField()
    min_at = models.DateTimeField()
    max_at = models.DateTimeField()
    count = models.BigIntegerField(help_text="How many events it has.")
    tenants = models.JSONField(null=True, help_text="How many of each tenant; empty: unknown.")
    topics = models.JSONField(null=True, help_text="What they are about: [tenant, event, task type]; empty: unknown.")
    system = models.BigIntegerField(help_text="The server's own number: another one means a restore.")
    recorded_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_outbox_window"
        default_permissions = ()
