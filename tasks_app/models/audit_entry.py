"""What a person did to the scheduler: who, what, why, and what became of it. Written with the deed, never changed."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel


class AuditEntry(OurModel):
    """One row for each thing acted on; a trigger refuses every change of it."""

    operation = models.UUIDField(help_text="One press of a button, however many tasks it was for.")
    actor = models.CharField(max_length=150)
    verb = models.CharField(max_length=20)
    subject = models.CharField(max_length=250, help_text="What it was done to, as people call it.")
    task_id = models.BigIntegerField(null=True, help_text="The task, if the subject is one.")
    tenant = models.CharField(
        max_length=TENANT_LENGTH,
        db_collation="C",
        null=True,
        help_text="Whose task or job it is; empty: what all tenants share, and what was written before this was known.",
    )
    task_type = models.CharField(max_length=100, db_collation="C", null=True, help_text="Of the task or job.")
    outcome = models.CharField(max_length=20)
    reason = models.TextField()
    detail = models.JSONField(db_default={})
    created_at = models.DateTimeField(db_default=Now())
    address = models.TextField(
        null=True, help_text="Where it was done from; empty: the scheduler itself did it, or it was not known yet."
    )

    class Meta:
        db_table = "punctual_audit_entry"  # partitions by created_at
        default_permissions = ()  # who may see tasks may see these; nobody writes them by hand
        verbose_name_plural = "audit entries"
        # The latest first, by who, what, whose and when. One operation acts on a subject once: lifecycle/audit.py sees
        # to it, since a unique constraint would have to contain created_at.
        indexes = [
            models.Index(fields=["created_at", "id"], name="punctual_audit_entry_when"),
            models.Index(fields=["tenant", "created_at", "id"], name="punctual_audit_entry_whose"),
            models.Index(fields=["actor", "created_at", "id"], name="punctual_audit_entry_who"),
            models.Index(fields=["subject", "created_at", "id"], name="punctual_audit_entry_what"),
            models.Index(
                fields=["task_id", "created_at", "id"],
                name="punctual_audit_entry_of_task",
                condition=Q(task_id__isnull=False),
            ),
            models.Index(fields=["operation", "subject"], name="punctual_audit_entry_operation"),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.subject} by {self.actor}"
