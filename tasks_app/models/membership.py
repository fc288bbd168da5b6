"""Who is what in which tenant, and which units belong to those who may change only their own."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from tasks_app.core.roles import Role
from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel
from .schedule_task import KEY_LENGTH


class Membership(OurModel):
    """A person in a tenant. Users may be in another database, so no foreign key leads there."""

    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    user_key = models.CharField(max_length=100, db_collation="C", help_text="The primary key of the user, as text.")
    username = models.CharField(max_length=150, db_collation="C", help_text="As it was when this was granted.")
    role = models.CharField(max_length=8, db_collation="C")
    source = models.CharField(
        max_length=50, db_default="", help_text="What keeps it, such as a single sign-on; empty: it was made by hand."
    )
    granted_by = models.CharField(max_length=150, db_default="")
    created_at = models.DateTimeField(db_default=Now())
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_membership"
        verbose_name = "member"
        default_permissions = ("view",)
        permissions = [("operate_membership", "Can grant, change and revoke memberships in tenants")]
        constraints = [
            models.UniqueConstraint(fields=["user_key", "tenant"], name="punctual_membership_of"),
            models.CheckConstraint(condition=Q(role__in=list(Role)), name="punctual_membership_role"),
        ]
        indexes = [models.Index(fields=["tenant", "username"], name="punctual_membership_in")]

    def __str__(self) -> str:
        return f"{self.username} in {self.tenant}"


class OwnedUnit(OurModel):
    """A unit that somebody scheduled who may change only what is their own. There are none for anybody else."""

    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    task_type = models.CharField(max_length=100, db_collation="C")
    biz_key = models.CharField(max_length=KEY_LENGTH, db_collation="C")
    owner = models.CharField(max_length=150, db_collation="C")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_owned_unit"
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["biz_key", "task_type", "tenant"], name="punctual_owned_unit_is"),
        ]
        indexes = [models.Index(fields=["at"], name="punctual_owned_unit_at")]

    def __str__(self) -> str:
        return f"{self.task_type} {self.biz_key}"
