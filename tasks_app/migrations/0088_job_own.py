"""Jobs with something of their own for their runs: most have nothing, and a start need not read each of them to know."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tasks_app", "0087_batch_waiting")]

    operations = [
        AddIndexConcurrently(
            "jobdefinition",
            models.Index(
                fields=["id"],
                name="punctual_job_own",
                condition=Q(timeout__isnull=False)
                | Q(backoff__isnull=False)
                | ~Q(overlap="allow")
                | Q(has_parents=True)
                | Q(has_children=True)
                | Q(linked_at__isnull=False),
            ),
        )
    ]
