"""How far the alarms have read the outbox: up to a snapshot, so that a transaction that takes long holds nothing up."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class AlarmReader(OurModel):
    id = models.SmallIntegerField(primary_key=True, db_default=1)
    cluster = models.BigIntegerField(help_text="Of the database server: in another, transactions are numbered anew.")
    floor_id = models.BigIntegerField(db_default=0, help_text="Rows up to this one were written by another server.")
    before = models.TextField(help_text="All that this snapshot sees has been read, ...")
    after = models.TextField(null=True, help_text="... and what this one sees is being read, ...")
    xid = models.BigIntegerField(db_default=0, help_text="... in order of transactions; this one ...")
    row = models.BigIntegerField(db_default=0, help_text="... up to this row.")
    read_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_alarm_reader"
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="punctual_alarm_reader_one")]
