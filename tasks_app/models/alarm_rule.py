"""An alarm rule: who is told, on which channels, when something happens to the tasks and jobs it is about."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.alarms import Scope
from tasks_app.core.tenants import TENANT_LENGTH

from .base import ArrayField, OurModel


class AlarmRule(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C", null=True, help_text="Empty: all tenants.")
    name: str = models.CharField(max_length=100, db_collation="C")
    revision = models.IntegerField(db_default=1)

    # What it is about.
    conditions = ArrayField(models.CharField(max_length=10))
    task_types = ArrayField(models.CharField(max_length=100), help_text="Patterns; none: all types.")
    job = models.BigIntegerField(null=True, help_text="This job alone.")
    late_seconds = models.FloatField(null=True)
    running_seconds = models.FloatField(null=True)

    # Who is told, and how often.
    channels = ArrayField(models.BigIntegerField())
    repeat_seconds = models.IntegerField(help_text="While it goes on, it is told again no sooner than this.")
    quiet_seconds = models.IntegerField(help_text="It is well again when it has not happened for so long.")
    runbook = models.CharField(max_length=500, db_default="")
    enabled = models.BooleanField(db_default=True)

    created_by = models.CharField(max_length=150, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_alarm_rule"
        verbose_name = "alarm rule"
        default_permissions = ("view",)
        permissions = [("operate_alarmrule", "Can create, edit, test and delete alarm rules and channels")]
        constraints = [
            models.UniqueConstraint(fields=["tenant", "name"], name="punctual_alarm_rule_name", nulls_distinct=False)
        ]
        indexes = [
            # The shortest time that anybody wants to hear of.
            models.Index(
                fields=["running_seconds"],
                name="punctual_alarm_rule_running",
                condition=Q(enabled=True, running_seconds__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def scope(self) -> Scope:
        return Scope(
            tenant=self.tenant,
            conditions=frozenset(self.conditions),
            task_types=tuple(self.task_types),
            job=self.job,
            late_seconds=self.late_seconds,
            running_seconds=self.running_seconds,
        )
