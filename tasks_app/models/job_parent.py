"""Which jobs a job waits for."""

from django.db import models

from .base import OurModel


class JobParent(OurModel):
    pk = models.CompositePrimaryKey("job", "parent")
    job = models.BigIntegerField(help_text="The one that waits.")
    parent = models.BigIntegerField(help_text="The one that it waits for.")

    class Meta:
        db_table = "punctual_job_parent"
        default_permissions = ()
        indexes = [models.Index(fields=["parent", "job"], name="punctual_job_parent_child")]

    def __str__(self) -> str:
        return f"job {self.job} after job {self.parent}"
