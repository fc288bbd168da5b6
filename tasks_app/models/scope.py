"""What ran in each scope that fails, and the work that its safeguards let through."""

from django.db import models

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel
from .safeguard import SUBJECT_LENGTH


class ScopeOutcome(OurModel):
    """Tries of a scope that a worker has just settled. A beat adds them to the scope's minute and deletes the row."""

    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    target = models.CharField(max_length=SUBJECT_LENGTH, db_collation="C", help_text="A type, or host: and a host.")
    backfill = models.BooleanField(help_text="They ran in the backfill lane.")
    ok = models.IntegerField()
    failed = models.IntegerField()

    class Meta:
        db_table = "punctual_scope_outcome"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.tenant}/{self.target}: {self.ok} ok, {self.failed} failed"


class ScopeMinute(OurModel):
    """Live tries of a scope in one minute, from its first failure on; kept for a quarter of an hour."""

    pk = models.CompositePrimaryKey("target", "tenant", "minute")
    target = models.CharField(max_length=SUBJECT_LENGTH, db_collation="C")
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    minute = models.DateTimeField()
    ok = models.IntegerField()
    failed = models.IntegerField()

    class Meta:
        db_table = "punctual_scope_minute"
        default_permissions = ()
        indexes = [models.Index(fields=["minute"], name="punctual_scope_minute_at")]

    def __str__(self) -> str:
        return f"{self.tenant}/{self.target} {self.minute:%H:%M}"


class CurbPermit(OurModel):
    """The tasks that a batch runs under the curb of a scope, until the batch is finished."""

    id = models.BigAutoField(primary_key=True)
    curb = models.BigIntegerField()
    batch_no = models.UUIDField()
    tasks = models.IntegerField()

    class Meta:
        db_table = "punctual_curb_permit"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["curb", "batch_no"], name="punctual_curb_permit_of")]
