"""The last calls to each subscriber, for whoever wants to know what it answered."""

from django.db import models
from django.db.models.functions import Now

from .base import ArrayField, OurModel


class Delivery(OurModel):
    subscription_id = models.BigIntegerField()
    at = models.DateTimeField(db_default=Now())
    ok = models.BooleanField()
    status = models.CharField(max_length=100, help_text="As the receiver says it.")
    ms = models.FloatField()
    count = models.IntegerField(help_text="How many events it carried.")
    event_ids = ArrayField(models.TextField(), help_text="The first of them.")
    answer = models.TextField(db_default="", help_text="How the answer began, or what went wrong.")

    class Meta:
        db_table = "punctual_delivery"
        default_permissions = ()
        indexes = [models.Index(fields=["subscription_id", "id"], name="punctual_delivery_of")]
