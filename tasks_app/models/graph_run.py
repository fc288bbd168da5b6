"""A run: one instance of each job of a graph, for one fire time; with the graph as it was then."""

from django.db import models
from django.db.models.functions import Now

from tasks_app.core.tenants import TENANT_LENGTH

from .base import OurModel
from .schedule_task import KEY_LENGTH


class GraphRun(OurModel):
    tenant = models.CharField(max_length=TENANT_LENGTH, db_collation="C")
    job = models.BigIntegerField(help_text="The first of the graph: its root, or the job that somebody triggered.")
    label = models.CharField(
        max_length=KEY_LENGTH, db_collation="C", help_text="The unit of each of its tasks is `job:label`."
    )
    fire_time = models.DateTimeField()
    nodes = models.JSONField(help_text="A list for each job: its id, its name, and the ids of its parents.")
    created_at = models.DateTimeField(db_default=Now())
    backfill = models.BooleanField(db_default=False, help_text="A backfill has made it.")
    rerun_at = models.DateTimeField(null=True, help_text="When somebody last ran it again.")

    class Meta:
        db_table = "punctual_run"
        verbose_name = "run of a graph"
        verbose_name_plural = "runs of graphs"
        default_permissions = ()  # who may see tasks may see these
        indexes = [
            models.Index(fields=["job", "id"], name="punctual_run_job"),
            models.Index(fields=["label"], name="punctual_run_label"),
            models.Index(fields=["created_at"], name="punctual_run_made"),
            models.Index(fields=["tenant", "id"], name="punctual_run_whose"),
        ]
        constraints = [models.UniqueConstraint(fields=["job", "label"], name="punctual_run_unit")]

    def __str__(self) -> str:
        return f"run {self.id} of job {self.job}"
