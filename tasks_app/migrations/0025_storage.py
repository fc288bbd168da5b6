"""Storage: an index of what failed and waits, and settings for tables from which rows go as fast as they come."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0023_past")]

    operations = [
        AddIndexConcurrently(
            "scheduletask",
            models.Index(
                fields=["task_type", "tenant"],
                name="punctual_task_failing",
                condition=models.Q(due_at__isnull=False, error_code__gt=""),
            ),
        ),
    ]
