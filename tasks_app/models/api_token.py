"""A key to the REST API, of one tenant, with the rights it has there; or a key to /metrics. Only its hash is kept."""

from django.db import models
from django.db.models.functions import Now

from tasks_app.core.roles import Right, up_to
from tasks_app.core.tenants import TENANT_LENGTH

from .base import ArrayField, OurModel


class ApiToken(OurModel):
    name = models.CharField(max_length=100, help_text="Who uses it; this is who the audit names.")
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    digest = models.CharField(max_length=64, unique=True, db_collation="C")
    hint = models.CharField(max_length=12, help_text="How it begins, to tell one from another.")
    can_write = models.BooleanField(db_default=False, help_text="It may operate, to web processes that know no rights.")
    right = models.CharField(
        max_length=10,
        db_collation="C",
        null=True,
        help_text="The highest it has; empty: issued before rights had names, and can_write says it.",
    )
    can_decrypt = models.BooleanField(
        db_default=False, help_text="It may see what is encrypted of the tasks that it may use."
    )
    types = ArrayField(
        models.CharField(max_length=100), null=True, help_text="All it may see and use; empty: all open to its tenant."
    )
    lanes = ArrayField(models.CharField(max_length=8), null=True, help_text="That it may use; empty: all.")
    metrics = models.BooleanField(
        db_default=False, help_text="It reads /metrics, which has figures of all tenants, and nothing else."
    )
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)
    last_used_at = models.DateTimeField(null=True, help_text="To the minute.")

    class Meta:
        db_table = "punctual_api_token"
        verbose_name = "API token"
        default_permissions = ("view",)
        permissions = [("operate_apitoken", "Can issue and revoke tokens of the REST API")]

    @property
    def rights(self) -> frozenset[Right]:
        if self.metrics:
            return frozenset()
        return up_to(Right(self.right or (Right.OPERATE if self.can_write else Right.READ)))

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"
