"""The hosts that callbacks go to: their limits, who has places of them now, and which of them are unwell."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.hosts import HOST_LENGTH
from tasks_app.core.tenants import TENANT_LENGTH

from .base import ArrayField, OurModel


class Host(OurModel):
    """The limits of a host that has any, for all tenants together."""

    host: str = models.CharField(max_length=HOST_LENGTH, primary_key=True, db_collation="C")
    max_running = models.IntegerField(null=True, help_text="Calls at the same time, over all workers; empty: no limit.")
    rate = models.FloatField(null=True, help_text="Calls a second; empty: no limit.")
    burst = models.FloatField(null=True, help_text="Calls that may begin at once after a pause.")
    permits = models.FloatField(db_default=0.0, help_text="Calls that could begin at filled_at.")
    filled_at = models.DateTimeField(db_default=Now())
    created_by = models.CharField(max_length=150, db_default="")
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_host"
        default_permissions = ("view",)
        permissions = [("operate_host", "Can limit hosts, and have one that is unwell tried at once")]

    def __str__(self) -> str:
        return self.host


class HostPermit(OurModel):
    """The places that a batch has of a host with max_running. They are its own until it is finished, or reaped."""

    id = models.BigAutoField(primary_key=True)
    host = models.CharField(max_length=HOST_LENGTH, db_collation="C")
    batch_no = models.UUIDField()
    held = models.IntegerField()

    class Meta:
        db_table = "punctual_host_permit"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["host", "batch_no"], name="punctual_host_permit_of")]


class HostHealth(OurModel):
    """A host that has failed since it last answered a tenant: how often, and whether its tasks wait."""

    id = models.BigAutoField(primary_key=True)
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    host = models.CharField(max_length=HOST_LENGTH, db_collation="C")
    tasks = ArrayField(models.BigIntegerField(), help_text="Whose calls failed, each once; no more than it takes.")
    error = models.TextField(db_default="", help_text="Of the last failure.")
    failing_since = models.DateTimeField(db_default=Now())
    failed_at = models.DateTimeField(db_default=Now(), help_text="Last.")
    unwell_since = models.DateTimeField(null=True, help_text="Since then its tasks wait; empty: they don't.")
    tries = models.IntegerField(db_default=0, help_text="That failed since then.")
    try_at = models.DateTimeField(null=True, help_text="From then on one task may try it.")
    trying = models.UUIDField(null=True, help_text="The batch that does, until it is finished.")
    returned = models.IntegerField(db_default=0, help_text="Tasks that were sent back since the last try.")
    crowd = models.IntegerField(db_default=0, help_text="The most that were between two tries: about so many wait.")

    class Meta:
        db_table = "punctual_host_health"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["tenant", "host"], name="punctual_host_health_of")]
        indexes = [
            models.Index(fields=["failed_at"], name="punctual_host_failed"),
            models.Index(fields=["unwell_since"], name="punctual_host_unwell", condition=Q(unwell_since__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.tenant}/{self.host}"
