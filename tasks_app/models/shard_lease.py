"""A shard and the beat that dispatches it now. For efficiency only: two beats that both think so do no harm."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class ShardLease(OurModel):
    # How the holder got it: nobody had it, its lease had run out, or its holder had more than a fair share.
    FREE, EXPIRED, SHARED = "FREE", "EXPIRED", "SHARED"

    shard = models.SmallIntegerField(primary_key=True)
    holder = models.UUIDField(null=True, help_text="The node id of the beat that dispatches this shard.")
    holder_name = models.CharField(max_length=200, db_default="")
    fence = models.BigIntegerField(
        db_default=0, help_text="Grows with every change of holder; a claim with an older number finds nothing."
    )
    lease_until = models.DateTimeField(db_default=Now())
    taken_at = models.DateTimeField(null=True)
    taken_how = models.CharField(max_length=7, db_default="")
    taken_from = models.CharField(max_length=200, db_default="", help_text="Who held it before.")

    class Meta:
        db_table = "punctual_shard_lease"

    def __str__(self) -> str:
        return f"shard {self.shard}"
