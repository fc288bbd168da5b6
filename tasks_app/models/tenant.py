"""Tenants: who shares the installation, whether their tasks run, and how much they may have."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH, TITLE_LENGTH, USUAL_WEIGHT

from .base import OurModel


class Tenant(OurModel):
    """What is known of a tenant. One without a row is active and has no quotas; rows come when they are needed."""

    ACTIVE, SUSPENDED = "ACTIVE", "SUSPENDED"

    name = models.CharField(max_length=TENANT_LENGTH, primary_key=True, db_collation="C")
    title = models.CharField(max_length=TITLE_LENGTH, db_default="", help_text="For people.")
    state = models.CharField(max_length=9, db_default=ACTIVE, db_collation="C")
    reason = models.TextField(db_default="", help_text="Why it is suspended.")
    since = models.DateTimeField(db_default=Now(), help_text="In this state.")
    until = models.DateTimeField(null=True, help_text="Suspended until then; empty: until somebody resumes it.")
    changed_by = models.CharField(max_length=150, db_default="")
    timezone = models.CharField(max_length=64, db_default="", help_text="Of its new jobs by the clock; empty: UTC.")
    contacts = ArrayField(models.CharField(max_length=254), db_default=[], help_text="Whom to tell.")
    weight = models.SmallIntegerField(db_default=USUAL_WEIGHT, help_text="Its share beside others.")
    encrypted = models.BooleanField(
        db_default=False, help_text="Payloads, results, errors and secrets are encrypted with a key of its own."
    )
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    # Quotas; empty: none.
    max_jobs = models.IntegerField(null=True)
    max_tasks = models.IntegerField(null=True, help_text="Live ones.")
    max_payload_bytes = models.IntegerField(null=True, help_text="Of one task, as JSON.")
    calls_per_minute = models.IntegerField(null=True, help_text="Of the REST API, by all its tokens together.")

    # Kept by the beats for those with max_tasks or max_jobs.
    tasks = models.BigIntegerField(null=True, help_text="Live ones, when they were last counted.")
    jobs = models.BigIntegerField(null=True, help_text="When they were last counted; one too many: or more.")
    at_limit = models.BooleanField(db_default=False, help_text="It had max_tasks or more: no more are taken.")
    near = ArrayField(models.CharField(max_length=20), db_default=[], help_text="Quotas of which it was told.")

    class Meta:
        db_table = "punctual_tenant"
        default_permissions = ("view",)
        permissions = [("operate_tenant", "Can make, change, suspend and resume tenants")]
        indexes = [
            # What starts, plans and inserts asks for nothing else, however many tenants there are.
            models.Index(fields=["name"], name="punctual_tenant_suspended", condition=Q(state="SUSPENDED")),
            models.Index(
                fields=["name"],
                name="punctual_tenant_guarded",
                condition=Q(at_limit=True) | Q(max_payload_bytes__isnull=False) | Q(encrypted=True),
            ),
            models.Index(
                fields=["name"],
                name="punctual_tenant_counted",
                condition=Q(max_tasks__isnull=False) | Q(max_jobs__isnull=False),
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(state__in=["ACTIVE", "SUSPENDED"]), name="punctual_tenant_state"),
            models.CheckConstraint(
                condition=Q(state="SUSPENDED") | Q(until__isnull=True), name="punctual_tenant_until_suspended"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def suspended(self) -> bool:
        return self.state == self.SUSPENDED


class HeldTask(OurModel):
    """A task that came due while its tenant was suspended: when it was due, to be put back to."""

    task = models.BigIntegerField(primary_key=True)
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    due_at = models.DateTimeField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_held"
        default_permissions = ()
        indexes = [models.Index(fields=["tenant", "task"], name="punctual_held_of")]

    def __str__(self) -> str:
        return f"task {self.task}"
