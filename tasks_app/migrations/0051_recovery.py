"""Recoveries: what was done after an incident, step by step."""

import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0050_installation")]

    operations = [
        migrations.CreateModel(
            name="Recovery",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "incident",
                    models.CharField(
                        db_collation="C",
                        help_text="As people call it; one recovery each.",
                        max_length=100,
                        unique=True,
                    ),
                ),
                ("grade", models.CharField(max_length=2)),
                ("actor", models.CharField(max_length=150)),
                ("reason", models.TextField()),
                (
                    "runs",
                    models.IntegerField(
                        db_default=1,
                        help_text="How often it was begun or went on: who has an older number may do no step.",
                    ),
                ),
                (
                    "began_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="When the incident began: the limits count from here.",
                    ),
                ),
                ("started_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "steps",
                    models.JSONField(
                        db_default={}, help_text="By name: when each was begun and done, and what it did."
                    ),
                ),
                ("resumed", models.IntegerField(db_default=0, help_text="Shards that are dispatched again.")),
                ("replayed", models.BigIntegerField(db_default=0, help_text="Events that subscribers get again.")),
                (
                    "letters_moved",
                    models.IntegerField(db_default=0, help_text="Dead letters whose tasks run again."),
                ),
            ],
            options={
                "verbose_name_plural": "recoveries",
                "db_table": "punctual_recovery",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("grade__in", ["P1", "P2"])), name="punctual_recovery_grade"
                    )
                ],
            },
        ),
    ]
