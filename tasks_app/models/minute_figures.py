"""The figures of all batches of a type that finished in one minute, and of what was told in it of tasks that were away:
charts read these instead of the batches."""

from django.db import models

from .base import ArrayField, OurModel


class MinuteFigures(OurModel):
    pk = models.CompositePrimaryKey("minute", "task_type")
    minute = models.DateTimeField()
    task_type = models.CharField(max_length=100, db_collation="C")
    batches = models.IntegerField()
    ok = models.IntegerField()
    failed = models.IntegerField()
    run_us = models.BigIntegerField()
    lateness = ArrayField(models.IntegerField(), help_text="Histogram, see core/lateness.py.")
    returned = models.IntegerField(
        db_default=0, help_text="Of the outcomes: of tasks that were away, which took no time."
    )

    class Meta:
        db_table = "punctual_minute_figures"  # partitions by minute
        default_permissions = ()  # who may see tasks may see these; nobody writes them by hand
        verbose_name_plural = "minute figures"

    def __str__(self) -> str:
        return f"{self.task_type} {self.minute:%H:%M}"
