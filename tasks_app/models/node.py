"""A live beat or worker process, as it reports itself."""

from django.db import models
from django.db.models.functions import Now

from .base import ArrayField, OurModel


class Node(OurModel):
    BEAT, WORKER = "BEAT", "WORKER"

    node_id = models.UUIDField(primary_key=True, help_text="Random per boot, so that a restart is a new node.")
    kind = models.CharField(max_length=6)
    name = models.CharField(max_length=200)
    slots = models.IntegerField(db_default=0, help_text="Batches a worker runs at the same time.")
    lanes = ArrayField(models.CharField(max_length=8), db_default=[])
    started_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    renewed_at = models.DateTimeField(
        null=True, help_text="When a beat's dispatcher last renewed its shards; empty: it takes no share of them."
    )

    site = models.CharField(max_length=50, db_default="main", help_text='PUNCTUAL["SITE"] of the process.')
    figures = models.JSONField(null=True, help_text="Of the process itself, see core/own_process.py; empty: unknown.")
    keys = models.JSONField(
        null=True, help_text="The ids of the installation's keys that the process has; empty: unknown."
    )
    version = models.CharField(max_length=100, db_default="", help_text="Of the process; empty: it does not say.")
    drained_at = models.DateTimeField(
        null=True, help_text="Since when a worker takes nothing more; empty: it takes batches."
    )
    drained_by = models.CharField(max_length=150, db_default="")
    drain_reason = models.TextField(db_default="")

    class Meta:
        db_table = "punctual_node"
        default_permissions = ()  # who may see tasks may see these
        verbose_name_plural = "fleet"

    def __str__(self) -> str:
        return f"{self.kind.lower()} {self.name}"
