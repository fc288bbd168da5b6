"""What `/metrics` shows: counts that only grow, and the last look of the beat that keeps them."""

from django.db import models
from django.db.models.functions import Now

from .base import ArrayField, OurModel


class Count(OurModel):
    """A counter or a histogram of one set of labels; core/metrics.py lists them."""

    pk = models.CompositePrimaryKey("name", "labels")
    name = models.CharField(max_length=60, db_collation="C")
    labels = models.TextField(db_collation="C", help_text="The values of its labels, as a JSON list.")
    value = models.FloatField(help_text="The count; of a histogram, the sum of what was observed.")
    buckets = ArrayField(
        models.BigIntegerField(), null=True, help_text="How many were in each bucket; empty: it is no histogram."
    )

    class Meta:
        db_table = "punctual_count"
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.name} {self.labels}"


class CountPass(OurModel):
    """One row: how far was counted, and the figures that are not counts."""

    id = models.SmallIntegerField(primary_key=True, db_default=1)
    counted_until = models.DateTimeField(db_default=Now(), help_text="Batches that ended before this are counted.")
    letters_counted = models.BigIntegerField(help_text="Dead letters up to this number are counted.")
    letters_seen = models.BigIntegerField(help_text="The newest one at `letters_seen_at`.")
    letters_seen_at = models.DateTimeField(db_default=Now())
    at = models.DateTimeField(null=True, help_text="When a beat last counted.")
    seconds = models.FloatField(db_default=0.0, help_text="What that took.")
    gauges = models.JSONField(db_default=[], help_text="[name, labels, value] each.")
    sampled_at = models.DateTimeField(null=True)
    sample = models.JSONField(db_default=[], help_text="Gauges that are estimated once a minute.")
    names = models.JSONField(db_default={}, help_text="The types and tenants that have series of their own.")

    class Meta:
        db_table = "punctual_count_pass"
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="punctual_count_pass_one")]

    def __str__(self) -> str:
        return f"counted until {self.counted_until}"
