"""Encrypted payloads of tasks in bytes: the column of what is over.

In a transaction of its own: it waits for whoever reads a partition, such as the archive, and meanwhile nothing of what
is live may be locked.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0076_campaign_options")]

    operations = [
        migrations.AddField(
            "pasttask",
            "payload_bytes",
            models.BinaryField(null=True, help_text="An encrypted payload; the other field names its key."),
        ),
    ]
