"""Who is told of which events, how far it has got, and which beat tells it now."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import ArrayField, OurModel


class Subscription(OurModel):
    ACTIVE, PAUSED, SUSPENDED = "ACTIVE", "PAUSED", "SUSPENDED"
    WEBHOOK, STREAM, QUEUE, PYTHON = "webhook", "stream", "queue", "python"
    STATES, SINKS = (ACTIVE, PAUSED, SUSPENDED), (WEBHOOK, STREAM, QUEUE, PYTHON)

    new_secret: str | None = None  # of the webhook that was just made; told this once, stored sealed

    name = models.CharField(max_length=100, db_collation="C")
    tenant = models.CharField(
        max_length=TENANT_LENGTH, db_collation="C", null=True, help_text="Whose events; empty: those of all tenants."
    )
    events = ArrayField(models.TextField(), help_text="Patterns of their names; the last that matches decides.")
    task_types = ArrayField(models.TextField(), db_default=[], help_text="Patterns of task types; empty: all.")
    sink = models.CharField(max_length=10, db_collation="C", help_text="The kind of receiver.")
    target = models.JSONField(help_text="Where it is; the fields depend on its kind.")
    secrets = models.JSONField(db_default=[], help_text="What events are signed with, encrypted; the newest first.")

    state = models.CharField(max_length=10, db_collation="C", db_default=ACTIVE)
    reason = models.TextField(db_default="", help_text="Why it is paused or suspended.")
    created_by = models.CharField(max_length=150, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(
        db_default=Now(), help_text="When a person, or the relay, last changed its state."
    )

    # The cursor: everything up to there was delivered, or is none of its business.
    window_no = models.BigIntegerField(db_default=0, help_text="It has all windows before this one, ...")
    row_id = models.BigIntegerField(db_default=0, help_text="... of this one all rows before this one, ...")
    place = models.IntegerField(db_default=0, help_text="... and of that row so many events.")
    since = models.DateTimeField(null=True, help_text="What was written before is none of its business.")

    delivered = models.BigIntegerField(db_default=0, help_text="How many events it has got.")
    delivered_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True, help_text="Nothing could be delivered since then.")
    attempts = models.IntegerField(db_default=0, help_text="Failed ones in a row.")
    next_try_at = models.DateTimeField(null=True)
    last_error = models.TextField(db_default="")

    holder = models.UUIDField(null=True, help_text="The node id of the beat that delivers it.")
    holder_name = models.CharField(max_length=200, db_default="")
    fence = models.BigIntegerField(
        db_default=0, help_text="Grows with every change of holder; who has an older one can't move the cursor."
    )
    lease_until = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_subscription"
        permissions = [("operate_subscription", "Can make, change, pause, resume and delete subscriptions")]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="punctual_subscription_name", nulls_distinct=False),
            models.CheckConstraint(
                condition=Q(state__in=["ACTIVE", "PAUSED", "SUSPENDED"]), name="punctual_subscription_state"
            ),
            models.CheckConstraint(
                condition=Q(sink__in=["webhook", "stream", "queue", "python"]), name="punctual_subscription_sink"
            ),
        ]

    def __str__(self) -> str:
        return self.name if self.tenant is None else f"{self.tenant}/{self.name}"
