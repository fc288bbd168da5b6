"""The identity of an installation: whether it may dispatch, and what tells its database from a copy."""

import django.contrib.postgres.fields
import django.contrib.postgres.functions
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0049_backup")]

    operations = [
        migrations.CreateModel(
            name="Installation",
            fields=[
                ("id", models.SmallIntegerField(db_default=1, primary_key=True, serialize=False)),
                (
                    "uid",
                    models.UUIDField(
                        db_default=django.contrib.postgres.functions.RandomUUID(),
                        help_text="Stays the same for as long as the installation lives.",
                    ),
                ),
                (
                    "environment",
                    models.CharField(
                        db_default="", help_text='PUNCTUAL["ENVIRONMENT"] of its processes.', max_length=100
                    ),
                ),
                (
                    "facts",
                    models.JSONField(help_text="What the database was when it was last seen well.", null=True),
                ),
                (
                    "standbys",
                    models.JSONField(
                        db_default={}, help_text="Addresses that streamed from it, and when that was last seen."
                    ),
                ),
                (
                    "seen_at",
                    models.DateTimeField(help_text="The last sign of life of a beat that may dispatch.", null=True),
                ),
                ("state", models.CharField(db_collation="C", db_default="ACTIVE", max_length=11)),
                ("reason", models.TextField(db_default="")),
                ("since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("changed_by", models.CharField(db_default="", max_length=150)),
                (
                    "held_before",
                    models.DateTimeField(help_text="What was due before then waits for an answer.", null=True),
                ),
                (
                    "held_lanes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=8),
                        db_default=[],
                        help_text="The lanes in which it waits.",
                        size=None,
                    ),
                ),
                (
                    "silent_since",
                    models.DateTimeField(help_text="Since when nobody had dispatched when it was asked.", null=True),
                ),
                (
                    "answer",
                    models.JSONField(help_text="What an operator has chosen, while beats carry it out.", null=True),
                ),
            ],
            options={
                "db_table": "punctual_installation",
                "verbose_name": "quarantine",
                "verbose_name_plural": "quarantine",
                "permissions": [("operate_installation", "Can put the installation into quarantine and let it go on")],
                "default_permissions": ("view",),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="punctual_installation_one"),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ACTIVE", "QUARANTINED", "REHEARSING"])),
                        name="punctual_installation_state",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RehearsedTask",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("due_at", models.DateTimeField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={"db_table": "punctual_rehearsed", "default_permissions": ()},
        ),
    ]
