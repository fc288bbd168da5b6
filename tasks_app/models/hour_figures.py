"""The figures of all minutes of an hour of UTC, over all types but the canaries: charts of days and weeks read them."""

from django.db import models

from .base import ArrayField, OurModel


class HourFigures(OurModel):
    hour = models.DateTimeField(primary_key=True)
    batches = models.BigIntegerField()
    returned = models.BigIntegerField(help_text="Of the outcomes: of tasks that were away.")
    ok = models.BigIntegerField()
    failed = models.BigIntegerField()
    lateness = ArrayField(models.BigIntegerField(), help_text="Histogram, see core/lateness.py.")

    class Meta:
        db_table = "punctual_hour_figures"
        default_permissions = ()  # who may see tasks may see these; nobody writes them by hand
        verbose_name_plural = "hour figures"

    def __str__(self) -> str:
        return f"{self.hour:%Y-%m-%d %H:%M}"
