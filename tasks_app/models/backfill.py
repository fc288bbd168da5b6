"""That a campaign makes up for firings of a job: for which job, and for which stretch of time."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel
from .campaign import Campaign


class Backfill(OurModel):
    """One row for each job of such a campaign; kept as long as the job, even if the campaign is forgotten."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.DO_NOTHING, db_constraint=False, db_index=False, related_name="backfills"
    )
    job = models.BigIntegerField()
    since = models.DateTimeField()
    until = models.DateTimeField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_backfill"
        default_permissions = ()  # who may see tasks may see these
        indexes = [models.Index(fields=["job", "campaign"], name="punctual_backfill_job")]

    def __str__(self) -> str:
        return f"backfill of job {self.job} by campaign {self.campaign_id}"
