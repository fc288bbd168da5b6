"""Where the measured handlers leave their effects."""

from django.db import models


class BenchEffect(models.Model):
    task_id = models.BigIntegerField()

    class Meta:
        db_table = "bench_effect"
