"""An alert: what one channel is told about an incident. Its id stays the same however often it is sent."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from .base import OurModel


class AlarmAlert(OurModel):
    SENT, FOLDED, GIVEN_UP = "SENT", "FOLDED", "GIVEN_UP"

    id = models.UUIDField(primary_key=True)
    channel = models.BigIntegerField()
    incident = models.BigIntegerField(null=True, help_text="Empty: of several, or of none.")
    kind = models.CharField(max_length=10)
    body = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    attempts = models.IntegerField(db_default=0)
    error = models.TextField(db_default="")
    done_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=8, db_default="", help_text="SENT; FOLDED into another; or GIVEN_UP.")
    folded_into = models.UUIDField(null=True)

    class Meta:
        db_table = "punctual_alarm_alert"
        verbose_name = "alert"
        default_permissions = ()
        indexes = [
            models.Index(
                fields=["channel", "created_at"], name="punctual_alarm_alert_waiting", condition=Q(done_at__isnull=True)
            ),
            models.Index(fields=["done_at"], name="punctual_alarm_alert_done", condition=Q(done_at__isnull=False)),
            models.Index(fields=["channel", "-created_at"], name="punctual_alarm_alert_channel"),
            models.Index(
                fields=["incident"], name="punctual_alarm_alert_incident", condition=Q(incident__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
