"""A dead letter: a task that gave up, waiting for a person."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from .base import ArrayField, ConfidentialText, OurModel

_OPEN = Q(replay_status="OPEN")


class DlqEntry(OurModel):
    OPEN, REPLAYED, CLOSED = "OPEN", "REPLAYED", "CLOSED"

    task = models.ForeignKey(
        "punctual.ScheduleTask",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="dead_letters",
    )
    tenant = models.CharField(max_length=63, db_collation="C")
    task_type = models.CharField(max_length=100, db_collation="C")
    error_code = models.CharField(max_length=50)
    error_msg: str = ConfidentialText()
    fingerprint = models.CharField(
        max_length=16,
        db_collation="C",
        db_default="",
        help_text="The same for all of one cause; punctual_fingerprint() makes it.",
    )
    frame = models.CharField(
        max_length=200, db_default="", help_text="Module and function of the app's code that failed, if it is known."
    )
    traceback: str = ConfidentialText(db_default="", help_text="Where it was raised, unless the message says so.")
    tags = ArrayField(models.CharField(max_length=50), db_default=[])
    job = models.BigIntegerField(null=True, help_text="The job it is an instance of.")
    created_at = models.DateTimeField(db_default=Now())
    replay_status = models.CharField(max_length=8, db_default=OPEN)
    closed_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=150, db_default="")

    class Meta:
        db_table = "punctual_dead_letter"
        verbose_name = "dead letter"
        indexes = [
            models.Index(
                fields=["closed_at"], name="punctual_dead_letter_closed", condition=Q(closed_at__isnull=False)
            ),
            models.Index(fields=["created_at", "id"], name="punctual_dead_letter_open", condition=_OPEN),
            models.Index(fields=["tenant", "created_at", "id"], name="punctual_dead_letter_whose", condition=_OPEN),
            models.Index(
                fields=["fingerprint", "created_at", "id"], name="punctual_dead_letter_cause", condition=_OPEN
            ),
            models.Index(
                fields=["tenant", "fingerprint", "created_at", "id"],
                name="punctual_dead_letter_own_cause",
                condition=_OPEN,
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=Q(replay_status__in=["OPEN", "REPLAYED", "CLOSED"]), name="punctual_dead_letter_replay_status"
            ),
            models.UniqueConstraint(fields=["task"], name="punctual_dead_letter_one_open", condition=_OPEN),
        ]

    def __str__(self) -> str:
        return f"{self.task_type} {self.task_id}: {self.error_code}"
