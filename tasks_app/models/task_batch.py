"""A batch: what is claimed, leased, delivered and measured together."""

from django.db import models
from django.db.models import Q

from .base import ArrayField, OurModel


class BatchFields(OurModel):
    batch_no = models.UUIDField(primary_key=True)
    task_type = models.CharField(max_length=100, db_collation="C")
    lane = models.CharField(max_length=8, db_collation="C")
    ids = ArrayField(models.BigIntegerField())
    dispatcher = models.CharField(max_length=200)
    claimed_at = models.DateTimeField()
    allowed_at = models.DateTimeField(
        null=True, help_text="From when on its type's limit and its lane let it start; empty: all the time."
    )
    lease_until = models.DateTimeField(help_text="The dispatch lease, and from the start on the run lease.")
    worker = models.CharField(max_length=200, db_default="")
    ticket = models.UUIDField(null=True, help_text="Of the start: who has it may ask for its answer again.")
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True, help_text="The fence: nothing of this batch counts after it.")
    reaped = models.BooleanField(db_default=False)

    # The figures of the run.
    ok = models.IntegerField(db_default=0)
    failed = models.IntegerField(db_default=0)
    run_us = models.BigIntegerField(db_default=0, help_text="Wall time of the run, for the next batch's size.")
    lateness = ArrayField(models.IntegerField(), null=True, help_text="Histogram, see core/lateness.py.")

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.task_type} {self.batch_no}"


class TaskBatch(BatchFields):
    """Unfinished, or finished within KEEP_LIVE_SECONDS."""

    class Meta:
        db_table = "punctual_batch"
        verbose_name_plural = "task batches"
        indexes = [
            models.Index(fields=["lease_until"], name="punctual_batch_open", condition=Q(finished_at__isnull=True)),
            models.Index(
                fields=["claimed_at"],
                name="punctual_batch_waiting",
                condition=Q(started_at__isnull=True, finished_at__isnull=True),
            ),
            models.Index(fields=["finished_at"], name="punctual_batch_done", condition=Q(finished_at__isnull=False)),
        ]


class PastBatch(BatchFields):
    """Finished, in partitions by day."""

    class Meta:
        db_table = "punctual_past_batch"
        default_permissions = ()
        verbose_name_plural = "past batches"


class AnyBatch(BatchFields):
    """Every batch there is: for whoever reads. A view."""

    class Meta:
        db_table = "punctual_any_batch"
        managed = False
        default_permissions = ()
