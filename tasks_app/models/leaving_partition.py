"""A partition on its way to the archive, or back from it: who writes it, since when it waits, and what was restored."""

from django.contrib.postgres.functions import RandomUUID
from django.db import models

from .base import ArrayField, OurModel


class LeavingPartition(OurModel):
    name: str = models.CharField(max_length=63, primary_key=True, db_collation="C")
    oid = models.BigIntegerField(help_text="Of the table that had the name when this was written.")
    mark = models.UUIDField(db_default=RandomUUID(), help_text="Its files in the archive begin with it.")
    fence = models.IntegerField(db_default=0, help_text="Goes up with each try: who has an older one may not drop it.")
    holder = models.CharField(max_length=200, db_default="")
    held_until = models.DateTimeField(null=True, help_text="Somebody writes it; the lease.")
    waiting_since = models.DateTimeField(null=True, help_text="When it was first tried.")
    error = models.TextField(db_default="", help_text="Of the last try, if that failed.")
    kept_until = models.DateTimeField(null=True, help_text="It was restored, and stays until then.")
    restored = ArrayField(models.TextField(), db_default=[], help_text="The files whose rows were restored into it.")

    class Meta:
        db_table = "punctual_leaving"
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
