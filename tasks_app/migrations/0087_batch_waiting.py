"""Batches that nobody has started, by when they were claimed: a look counts those that wait without reading the entries of all
that were open a minute ago."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tasks_app", "0086_no_index_by_due")]

    operations = [
        AddIndexConcurrently(
            "taskbatch",
            models.Index(
                fields=["claimed_at"],
                name="punctual_batch_waiting",
                condition=Q(started_at__isnull=True, finished_at__isnull=True),
            ),
        )
    ]
