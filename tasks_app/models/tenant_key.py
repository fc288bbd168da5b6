"""The keys that tenants' data is encrypted with, each sealed with the installation's; and the walk that brings what is
stored under the newest of them."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel


class TenantKey(OurModel):
    """A key of a tenant. The newest one encrypts, all of them open; of one that was destroyed only the row is left."""

    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    sealed = models.TextField(db_default="", help_text="With the installation's key; empty: it was destroyed.")
    encrypts = models.BooleanField(db_default=True, help_text="What is written now is encrypted with it.")
    in_bytes = models.BooleanField(
        db_default=False,
        help_text="Payloads of tasks are stored in bytes. Not with a key of before: processes of then can't read them.",
    )
    created_at = models.DateTimeField(db_default=Now())
    created_by = models.CharField(max_length=150, db_default="")
    destroyed_at = models.DateTimeField(null=True)
    destroyed_by = models.CharField(max_length=150, db_default="")

    class Meta:
        db_table = "punctual_tenant_key"
        default_permissions = ()
        indexes = [
            models.Index(fields=["tenant", "id"], name="punctual_tenant_key_of"),
            # Which of the installation's keys are in use: asked whenever somebody looks whether all is well.
            models.Index(
                models.Func(models.F("sealed"), models.Value("."), models.Value(2), function="split_part"),
                name="punctual_tenant_key_master",
                condition=Q(sealed__gt=""),
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["tenant"], name="punctual_tenant_key_newest", condition=Q(encrypts=True)),
            models.CheckConstraint(
                condition=Q(destroyed_at__isnull=True) | Q(sealed="", encrypts=False), name="punctual_tenant_key_gone"
            ),
        ]

    def __str__(self) -> str:
        return f"key {self.id} of {self.tenant}"


class KeyWalk(OurModel):
    """How far the stored data of tenants was brought under their newest keys: one row, made by the first order."""

    ONLY = 1
    RUNNING, STOPPED, DONE = "RUNNING", "STOPPED", "DONE"

    id = models.SmallIntegerField(primary_key=True)
    state = models.CharField(max_length=7, db_collation="C", db_default=RUNNING)
    place = models.SmallIntegerField(db_default=0, help_text="The table that it is at, counted from 0.")
    after = models.BigIntegerField(db_default=0, help_text="The last row of it that was looked at.")
    until = models.BigIntegerField(db_default=0, help_text="About the last row that there is.")
    rounds = models.IntegerField(db_default=0, help_text="Times that it has begun anew, since something was in use.")
    changed = models.BigIntegerField(db_default=0, help_text="Rows that were written.")
    left = models.BigIntegerField(db_default=0, help_text="Rows of this round that could not be written now.")
    unreadable = models.BigIntegerField(db_default=0, help_text="Rows of this round that no key opens.")
    ordered_by = models.CharField(max_length=150, db_default="")
    ordered_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_key_walk"
        default_permissions = ()
        constraints = [
            models.CheckConstraint(condition=Q(id=1), name="punctual_key_walk_one"),
            models.CheckConstraint(
                condition=Q(state__in=["RUNNING", "STOPPED", "DONE"]), name="punctual_key_walk_state"
            ),
        ]

    def __str__(self) -> str:
        return f"walk under the newest keys: {self.state}"
