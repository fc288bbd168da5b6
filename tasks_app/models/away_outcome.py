"""What became of tasks that were away: counted when it is reported, since their batches have ended long before."""

from django.db import models

from .base import OurModel


class AwayOutcome(OurModel):
    """The outcomes that one statement wrote, by lane and type. Figures of minutes, metrics and safeguards read them."""

    at = models.DateTimeField()
    lane = models.CharField(max_length=8, db_collation="C")
    task_type = models.CharField(max_length=100, db_collation="C")
    ok = models.IntegerField()
    failed = models.IntegerField()

    class Meta:
        db_table = "punctual_away_outcome"
        default_permissions = ()
        indexes = [models.Index(fields=["at"], name="punctual_away_outcome_at")]

    def __str__(self) -> str:
        return f"{self.task_type} {self.at:%H:%M}: {self.ok} ok, {self.failed} failed"
