"""What is known of each place for backups."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0048_safeguards")]

    operations = [
        migrations.CreateModel(
            name="BackupPlace",
            fields=[
                (
                    "place",
                    models.TextField(help_text="Its URL, without options.", primary_key=True, serialize=False),
                ),
                ("number", models.SmallIntegerField(help_text="In the settings, from 1.")),
                (
                    "seen_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When this row was last written.",
                    ),
                ),
                (
                    "covered_until",
                    models.DateTimeField(help_text="All that was committed before then is there.", null=True),
                ),
                (
                    "behind_bytes",
                    models.BigIntegerField(
                        help_text="Of the log, that were not there when it was written.", null=True
                    ),
                ),
                ("base", models.TextField(help_text="The label of the newest base backup.", null=True)),
                ("base_at", models.DateTimeField(help_text="When it was complete.", null=True)),
                ("base_bytes", models.BigIntegerField(null=True)),
                ("bases", models.IntegerField(help_text="How many there are.", null=True)),
                (
                    "restored",
                    models.TextField(
                        help_text="The label of the base that was last restored and started.", null=True
                    ),
                ),
                ("restored_at", models.DateTimeField(null=True)),
                (
                    "error",
                    models.TextField(db_default="", help_text="Why it can't be written to, if it can't."),
                ),
                ("error_since", models.DateTimeField(null=True)),
            ],
            options={"db_table": "punctual_backup_place", "default_permissions": ()},
        ),
    ]
