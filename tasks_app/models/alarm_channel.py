"""A channel: where alerts are sent to. What it needs for that is sealed; a page shows only what is no secret."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.alarms import ChannelKind
from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel


class AlarmChannel(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", null=True, help_text="Empty: the operators'.")
    name: str = models.CharField(max_length=100, db_collation="C")
    revision = models.IntegerField(db_default=1)
    kind = models.CharField(max_length=10)
    target = models.TextField(help_text="Sealed: addresses, and the secret that signs what is sent.")
    shown = models.CharField(max_length=200, help_text="Of the target, what is no secret.")
    most_per_hour = models.IntegerField(help_text="Alerts; what is more is sent together as one.")
    enabled = models.BooleanField(db_default=True)

    # Who is sending, and how that went.
    permits = models.FloatField(help_text="Alerts that could be sent now; refilled from most_per_hour.")
    refilled_at = models.DateTimeField(db_default=Now())
    held_until = models.DateTimeField(null=True, help_text="A beat is sending; the lease.")
    fence = models.IntegerField(db_default=0, help_text="Goes up each time a beat takes it.")
    attempts = models.IntegerField(db_default=0, help_text="Failed, since the last that succeeded.")
    next_try_at = models.DateTimeField(null=True)
    failing_since = models.DateTimeField(null=True)
    error = models.TextField(db_default="", help_text="Of the last try, if that failed.")
    sent_at = models.DateTimeField(null=True, help_text="The last that succeeded.")

    created_by = models.CharField(max_length=150, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_alarm_channel"
        verbose_name = "alarm channel"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "name"], name="punctual_alarm_channel_name", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(kind__in=[kind.value for kind in ChannelKind]), name="punctual_alarm_channel_kind"
            ),
        ]
        indexes = [
            models.Index(
                fields=["failing_since"],
                name="punctual_alarm_channel_fails",
                condition=Q(failing_since__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.name
