"""One failed try of a task: an error, a timeout or a lost lease. A success lives on the task row."""

from django.db import models
from django.db.models.functions import Now

from .base import ConfidentialText, OurModel


class TaskAttempt(OurModel):
    task = models.ForeignKey(
        "punctual.ScheduleTask",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        db_index=False,
        related_name="attempts",
    )
    attempt = models.IntegerField(help_text="1 for the first try since the last success, roll or replay.")
    batch_no = models.UUIDField()
    worker = models.CharField(max_length=200)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(db_default=Now())
    error_code = models.CharField(max_length=50)
    error_msg: str = ConfidentialText()
    held_by = models.CharField(
        max_length=120, null=True, help_text="Whose retry budget was spent, so that the next try waits for it."
    )

    class Meta:
        db_table = "punctual_attempt"  # partitions by finished_at
        indexes = [models.Index(fields=["task", "id"], name="punctual_attempt_task")]

    def __str__(self) -> str:
        return f"attempt {self.attempt}: {self.error_code}"
