"""Secrets by name, and the hosts that callbacks go to: their limits, and which of them are unwell.

New tables only; nothing that exists is touched.
"""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

# Rows of both are written again and again, and there are few: what is dead is cleaned before it is many pages.
SET = """
ALTER TABLE punctual_host SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_host_permit SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 500);
ALTER TABLE punctual_host_health SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 200);
"""
NOW = django.db.models.functions.datetime.Now


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0035_operate_subscriptions")]

    operations = [
        migrations.CreateModel(
            name="Secret",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("name", models.CharField(db_collation="C", max_length=100)),
                ("values", models.JSONField(db_default=[], help_text="Sealed, the newest first; more than one only while it is changed.")),
                ("signs", models.BooleanField(db_default=False, help_text="It is one of Standard Webhooks.")),
                ("hosts", django.contrib.postgres.fields.ArrayField(base_field=models.TextField(), db_default=[], help_text="Where it may be sent to; empty: anywhere.", size=None)),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("created_at", models.DateTimeField(db_default=NOW())),
                ("updated_at", models.DateTimeField(db_default=NOW())),
            ],
            options={
                "db_table": "punctual_secret",
                "default_permissions": ("view",),
                "permissions": [("operate_secret", "Can set and delete secrets")],
                "constraints": [models.UniqueConstraint(fields=("tenant", "name"), name="punctual_secret_name")],
            },
        ),
        migrations.CreateModel(
            name="Host",
            fields=[
                ("host", models.CharField(db_collation="C", max_length=260, primary_key=True, serialize=False)),
                ("max_running", models.IntegerField(help_text="Calls at the same time, over all workers; empty: no limit.", null=True)),
                ("rate", models.FloatField(help_text="Calls a second; empty: no limit.", null=True)),
                ("burst", models.FloatField(help_text="Calls that may begin at once after a pause.", null=True)),
                ("permits", models.FloatField(db_default=0.0, help_text="Calls that could begin at filled_at.")),
                ("filled_at", models.DateTimeField(db_default=NOW())),
                ("created_by", models.CharField(db_default="", max_length=150)),
                ("updated_at", models.DateTimeField(db_default=NOW())),
            ],
            options={
                "db_table": "punctual_host",
                "default_permissions": ("view",),
                "permissions": [("operate_host", "Can limit hosts, and have one that is unwell tried at once")],
            },
        ),
        migrations.CreateModel(
            name="HostPermit",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("host", models.CharField(db_collation="C", max_length=260)),
                ("batch_no", models.UUIDField()),
                ("held", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_host_permit",
                "default_permissions": (),
                "constraints": [models.UniqueConstraint(fields=("host", "batch_no"), name="punctual_host_permit_of")],
            },
        ),
        migrations.CreateModel(
            name="HostHealth",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("host", models.CharField(db_collation="C", max_length=260)),
                ("tasks", django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), help_text="Whose calls failed, each once; no more than it takes.", size=None)),
                ("error", models.TextField(db_default="", help_text="Of the last failure.")),
                ("failing_since", models.DateTimeField(db_default=NOW())),
                ("failed_at", models.DateTimeField(db_default=NOW(), help_text="Last.")),
                ("unwell_since", models.DateTimeField(help_text="Since then its tasks wait; empty: they don't.", null=True)),
                ("tries", models.IntegerField(db_default=0, help_text="That failed since then.")),
                ("try_at", models.DateTimeField(help_text="From then on one task may try it.", null=True)),
                ("trying", models.UUIDField(help_text="The batch that does, until it is finished.", null=True)),
            ],
            options={
                "db_table": "punctual_host_health",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["failed_at"], name="punctual_host_failed"),
                    models.Index(condition=models.Q(("unwell_since__isnull", False)), fields=["unwell_since"], name="punctual_host_unwell"),
                ],
                "constraints": [models.UniqueConstraint(fields=("tenant", "host"), name="punctual_host_health_of")],
            },
        ),
        migrations.RunSQL(SET, migrations.RunSQL.noop),
    ]
