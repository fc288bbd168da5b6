"""How far the alarms have read the outbox: every event of a transaction before this one has been looked at."""

from django.db import models
from django.db.models.functions import Now

from .base import OurModel


class AlarmReader(OurModel):
    id = models.SmallIntegerField(primary_key=True, db_default=1)
    cluster = models.BigIntegerField(help_text="Of the database server: in another, transactions are numbered anew.")
    after_event = models.BigIntegerField(help_text="Up to this id all events are from before it began to read.")
    xid = models.BigIntegerField(help_text="Of this transaction, events up to row are done; of earlier ones, all.")
    row = models.BigIntegerField(db_default=0)
    read_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "punctual_alarm_reader"
        default_permissions = ()
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="punctual_alarm_reader_one")]
