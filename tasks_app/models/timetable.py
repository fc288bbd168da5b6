"""How far the timetable of a shard lies behind us: no entry before that waits any more, nor ever will."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class Timetable(OurModel):
    shard = models.SmallIntegerField(primary_key=True)
    passed = models.JSONField(db_default={}, help_text="Of each lane: the moment before which nothing waits.")
    noted_at = models.DateTimeField(db_default=Now(), help_text="When somebody looked last.")
    mark_at = models.DateTimeField(db_default=Now(), help_text="Who got a number later makes no entry before.")
    mark_xid = models.BigIntegerField(help_text="Whose number is larger has got it after mark_at.")

    class Meta:
        db_table = "punctual_timetable"
        default_permissions = ()

    def __str__(self) -> str:
        return f"timetable of shard {self.shard}"
