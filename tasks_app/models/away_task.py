"""A task that somebody else has: in which run, since when, and until when something must be heard of it."""

from django.db import models

from .base import OurModel


class AwayTask(OurModel):
    """One row for each task that is AWAY; written with its status, and gone with it."""

    task = models.BigIntegerField(primary_key=True)
    run = models.UUIDField(help_text="The batch that handed it over: what is reported must name it.")
    task_type = models.CharField(max_length=100, db_collation="C")
    worker = models.CharField(max_length=200)
    lease = models.FloatField(help_text="Seconds that each report of progress gives it.")
    since = models.DateTimeField()
    until = models.DateTimeField(help_text="Lost, if nothing is heard of it by then.")

    class Meta:
        db_table = "punctual_away"
        default_permissions = ()
        indexes = [
            models.Index(fields=["until"], name="punctual_away_until"),
            models.Index(fields=["task_type"], name="punctual_away_type"),  # they count towards a limit
        ]

    def __str__(self) -> str:
        return f"task {self.task}, away until {self.until}"
