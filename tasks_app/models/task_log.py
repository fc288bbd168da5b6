"""The last lines that one try of a task has logged: while it runs, and afterwards whatever became of it."""

from django.db import models

from .base import OurModel


class TaskLog(OurModel):
    task = models.ForeignKey(
        "punctual.ScheduleTask", on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="logs"
    )
    attempt = models.IntegerField(help_text="1 for the first try since the last success, roll or replay.")
    batch_no = models.UUIDField()
    worker = models.CharField(max_length=200)
    started_at = models.DateTimeField(help_text="When its batch began.")
    dropped = models.IntegerField(help_text="Lines before these, which are not kept.")
    lines = models.JSONField(help_text="[seconds since the epoch, level or empty, text] each, the oldest first.")

    class Meta:
        db_table = "punctual_log"  # partitions by started_at
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["task", "batch_no", "started_at"], name="punctual_log_try"),
        ]

    def __str__(self) -> str:
        return f"log of task {self.task_id}, attempt {self.attempt}"
