"""An incident: what a rule is about has happened, and is not well again yet. One row for each cause, however often."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel


class AlarmIncident(OurModel):
    WELL, GONE = "WELL", "GONE"

    rule = models.BigIntegerField()
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", null=True, help_text="The rule's.")
    condition = models.CharField(max_length=10)
    cause = models.CharField(max_length=200, db_collation="C")
    task_type = models.CharField(max_length=100, db_collation="C")
    job = models.BigIntegerField(null=True, help_text="The job, if the rule is about one.")
    count = models.BigIntegerField()
    seconds = models.FloatField(db_default=0.0, help_text="How late, or how long: the worst.")
    sample = models.JSONField()
    opened_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    calm_at = models.DateTimeField(help_text="Not before this is it asked whether all is well again.")
    tell_at = models.DateTimeField(null=True, help_text="There is something to tell, from then on.")
    told_at = models.DateTimeField(null=True)
    told_count = models.BigIntegerField(db_default=0)
    closed_at = models.DateTimeField(null=True)
    outcome = models.CharField(max_length=4, db_default="", help_text="WELL, or GONE: nobody will ever know.")

    class Meta:
        db_table = "punctual_alarm_incident"
        verbose_name = "incident"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "condition", "task_type", "cause"],
                name="punctual_alarm_incident_open",
                condition=Q(closed_at__isnull=True),
            )
        ]
        indexes = [
            models.Index(fields=["tell_at"], name="punctual_alarm_incident_tell", condition=Q(tell_at__isnull=False)),
            models.Index(fields=["calm_at"], name="punctual_alarm_incident_calm", condition=Q(closed_at__isnull=True)),
            models.Index(
                fields=["closed_at"], name="punctual_alarm_incident_closed", condition=Q(closed_at__isnull=False)
            ),
            models.Index(fields=["tenant", "-id"], name="punctual_alarm_incident_tenant"),
        ]

    def __str__(self) -> str:
        return f"{self.condition} {self.task_type} {self.cause}"
