"""Stored answers with what their caller could do. Those from before have none, and are given again until they are pruned."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0088_job_own")]

    operations = [
        migrations.AddField(
            "idempotencyrecord",
            "reach",
            models.JSONField(
                null=True, help_text="The rights of its caller then: a replay needs them too."
            ),
        ),
    ]
