"""A secret of a tenant that callbacks refer to by its name: sent in a header, or used to sign. Never shown."""

from django.db import models
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import ArrayField, OurModel


class Secret(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    name = models.CharField(max_length=100, db_collation="C")
    values = models.JSONField(
        db_default=[], help_text="Sealed, the newest first; more than one only while it is changed."
    )
    signs = models.BooleanField(db_default=False, help_text="It is one of Standard Webhooks.")
    hosts = ArrayField(models.TextField(), db_default=[], help_text="Where it may be sent to; empty: anywhere.")
    created_by = models.CharField(max_length=150, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_secret"
        default_permissions = ("view",)
        permissions = [("operate_secret", "Can set and delete secrets")]
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="punctual_secret_name")]

    def __str__(self) -> str:
        return f"{self.tenant}/{self.name}"
