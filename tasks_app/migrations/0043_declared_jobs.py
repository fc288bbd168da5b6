"""Which file declares a job, and what the job was when it was applied."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0042_calendars_indexes")]

    operations = [
        migrations.CreateModel(
            name="DeclaredJob",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("name", models.CharField(db_collation="C", help_text="In the file.", max_length=150)),
                (
                    "source",
                    models.CharField(db_collation="C", help_text="The file, by its own name.", max_length=200),
                ),
                (
                    "job",
                    models.BigIntegerField(
                        help_text="Stays when the job is deleted by hand: that is drift.", unique=True
                    ),
                ),
                ("revision", models.IntegerField(help_text="Of the job when it was applied.")),
                (
                    "document",
                    models.JSONField(help_text="Its fields when it was applied: what differs was changed by hand."),
                ),
                ("applied_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("applied_by", models.CharField(max_length=150)),
            ],
            options={
                "db_table": "punctual_declared_job",
                "default_permissions": (),
                "indexes": [models.Index(fields=["source"], name="punctual_declared_source")],
                "constraints": [
                    models.UniqueConstraint(fields=("tenant", "name"), name="punctual_declared_job_once")
                ],
            },
        ),
    ]
