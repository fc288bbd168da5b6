"""Which units a partition of the past may hold, in two bytes each; and so which partitions nobody has to look into."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class Sieve(OurModel):
    name: str = models.CharField(max_length=63, unique=True, db_collation="C", help_text="Of the partition.")
    oid = models.BigIntegerField(help_text="Of the table that had the name when this was written.")
    retention = models.CharField(max_length=20, db_collation="C")
    since = models.DateTimeField()
    until = models.DateTimeField(help_text="Not included.")
    buckets = models.IntegerField(help_text="Into which its prints are spread: the rows of punctual_sieve_part.")
    ready = models.BooleanField(db_default=False, help_text="What is not in it is not in the partition.")
    begun_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_sieve"
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
