"""Tenants as rows: whether their tasks run, and their quotas; and the tasks that wait for one that is suspended."""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models

_DEFAULT = "INSERT INTO punctual_tenant (name) VALUES ('default') ON CONFLICT DO NOTHING"

# On the way back, before the tables go: what lies aside is due as it was.
_PUT_BACK = """
UPDATE punctual_task t SET due_at = h.due_at, updated_at = clock_timestamp()
FROM punctual_held h WHERE t.id = h.task AND t.due_at = '9000-01-01T00:00:00+00:00'
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0057_backfill_turns")]

    operations = [
        migrations.CreateModel(
            name="HeldTask",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                ("due_at", models.DateTimeField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_held",
                "default_permissions": (),
                "indexes": [models.Index(fields=["tenant", "task"], name="punctual_held_of")],
            },
        ),
        migrations.CreateModel(
            name="Tenant",
            fields=[
                ("name", models.CharField(db_collation="C", max_length=63, primary_key=True, serialize=False)),
                ("title", models.CharField(db_default="", help_text="For people.", max_length=100)),
                ("state", models.CharField(db_collation="C", db_default="ACTIVE", max_length=9)),
                ("reason", models.TextField(db_default="", help_text="Why it is suspended.")),
                (
                    "since",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), help_text="In this state."
                    ),
                ),
                (
                    "until",
                    models.DateTimeField(
                        help_text="Suspended until then; empty: until somebody resumes it.", null=True
                    ),
                ),
                ("changed_by", models.CharField(db_default="", max_length=150)),
                (
                    "timezone",
                    models.CharField(
                        db_default="", help_text="Of its new jobs by the clock; empty: UTC.", max_length=64
                    ),
                ),
                (
                    "contacts",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=254),
                        db_default=[],
                        help_text="Whom to tell.",
                        size=None,
                    ),
                ),
                ("weight", models.SmallIntegerField(db_default=100, help_text="Its share beside others.")),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("updated_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("max_jobs", models.IntegerField(null=True)),
                ("max_tasks", models.IntegerField(help_text="Live ones.", null=True)),
                ("max_payload_bytes", models.IntegerField(help_text="Of one task, as JSON.", null=True)),
                (
                    "calls_per_minute",
                    models.IntegerField(help_text="Of the REST API, by all its tokens together.", null=True),
                ),
                (
                    "tasks",
                    models.BigIntegerField(help_text="Live ones, when they were last counted.", null=True),
                ),
                (
                    "at_limit",
                    models.BooleanField(db_default=False, help_text="It had max_tasks or more: no more are taken."),
                ),
                (
                    "near",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=20),
                        db_default=[],
                        help_text="Quotas of which it was told.",
                        size=None,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_tenant",
                "permissions": [("operate_tenant", "Can make, change, suspend and resume tenants")],
                "default_permissions": ("view",),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "SUSPENDED")), fields=["name"], name="punctual_tenant_suspended"
                    ),
                    models.Index(
                        condition=models.Q(("at_limit", True), ("max_payload_bytes__isnull", False), _connector="OR"),
                        fields=["name"],
                        name="punctual_tenant_guarded",
                    ),
                    models.Index(
                        condition=models.Q(("max_tasks__isnull", False), ("max_jobs__isnull", False), _connector="OR"),
                        fields=["name"],
                        name="punctual_tenant_counted",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["ACTIVE", "SUSPENDED"])), name="punctual_tenant_state"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state", "SUSPENDED"), ("until__isnull", True), _connector="OR"),
                        name="punctual_tenant_until_suspended",
                    ),
                ],
            },
        ),
        migrations.RunSQL(_DEFAULT, migrations.RunSQL.noop),
        migrations.RunSQL(migrations.RunSQL.noop, _PUT_BACK),
    ]
