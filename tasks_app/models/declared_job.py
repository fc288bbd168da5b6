"""A job that a file declares: which file, and what the job was when it was last applied."""

from django.db import models
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel
from .job_definition import NAME_LENGTH

SOURCE_LENGTH = 200


class DeclaredJob(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    name: str = models.CharField(max_length=NAME_LENGTH, db_collation="C", help_text="In the file.")
    source = models.CharField(max_length=SOURCE_LENGTH, db_collation="C", help_text="The file, by its own name.")
    job = models.BigIntegerField(unique=True, help_text="Stays when the job is deleted by hand: that is drift.")
    revision = models.IntegerField(help_text="Of the job when it was applied.")
    document = models.JSONField(help_text="Its fields when it was applied: what differs was changed by hand.")
    applied_at = models.DateTimeField(db_default=Now())
    applied_by = models.CharField(max_length=150)

    class Meta:
        db_table = "punctual_declared_job"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["tenant", "name"], name="punctual_declared_job_once")]
        indexes = [models.Index(fields=["source"], name="punctual_declared_source")]

    def __str__(self) -> str:
        return self.name
