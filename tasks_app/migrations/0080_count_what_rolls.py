"""What rolls without a limit can be counted by its type, in an index that is made while everybody goes on."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tasks_app", "0079_window_tenants")]

    operations = [
        # If building it was interrupted, PostgreSQL has left an index that is not valid: it goes first.
        migrations.RunSQL("DROP INDEX CONCURRENTLY IF EXISTS punctual_task_rolling", migrations.RunSQL.noop),
        AddIndexConcurrently(
            "scheduletask",
            models.Index(
                condition=models.Q(("due_at__isnull", False), ("limited", False), ("repeat_after__isnull", False)),
                fields=["task_type", "tenant", "due_at"],
                name="punctual_task_rolling",
            ),
        ),
    ]
