"""What a beat worked on when it stopped responding, and how often that happened."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class Stall(OurModel):
    kind = models.CharField(max_length=15, db_collation="C", help_text="One of core/at_work.py.")
    place = models.CharField(max_length=32, db_collation="C", help_text="The part of the beat that worked on it.")
    item = models.CharField(max_length=440, db_collation="C", help_text="Its number or name; of a job, its schedule.")
    ends = models.IntegerField(db_default=1, help_text="Beats that ended on it.")
    first_at = models.DateTimeField(db_default=Now())
    last_at = models.DateTimeField(db_default=Now())
    skipped_at = models.DateTimeField(null=True, help_text="Since when beats skip it; empty: they do not.")
    beat = models.CharField(max_length=200, db_default="", help_text="The last of these beats.")
    stack = models.TextField(db_default="", help_text="Of its thread, the innermost call first.")

    class Meta:
        db_table = "punctual_stall"
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["kind", "place", "item"], name="punctual_stall_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.item}"
