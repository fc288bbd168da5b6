"""Safeguards: their states, incidents and curbs, and the figures that they go by."""

import django.contrib.postgres.fields
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0047_traces")]

    operations = [
        migrations.CreateModel(
            name="Safeguard",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", max_length=20)),
                (
                    "subject",
                    models.CharField(
                        db_collation="C", help_text="A type, or host: and a host; empty: all.", max_length=300
                    ),
                ),
                ("stage", models.SmallIntegerField(db_default=0, help_text="0: off.")),
                (
                    "over_since",
                    models.DateTimeField(help_text="The limit has been passed since then.", null=True),
                ),
                ("calm_since", models.DateTimeField(help_text="All has been well since then.", null=True)),
                ("stage_since", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(help_text="When it last went off.", null=True)),
                (
                    "relapses",
                    models.SmallIntegerField(
                        db_default=0, help_text="How often it went on again shortly after its end."
                    ),
                ),
                ("figures", models.JSONField(db_default={})),
                (
                    "order",
                    models.CharField(
                        db_default="", help_text="force, forbid or end: what an operator wants.", max_length=6
                    ),
                ),
                ("order_stage", models.SmallIntegerField(db_default=0)),
                ("order_until", models.DateTimeField(null=True)),
                ("order_by", models.CharField(db_default="", max_length=150)),
                ("order_reason", models.TextField(db_default="")),
                ("looked_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_safeguard",
                "permissions": [("operate_safeguard", "Can force, forbid and end safeguards")],
                "default_permissions": ("view",),
                "constraints": [
                    models.UniqueConstraint(fields=("name", "subject"), name="punctual_safeguard_once"),
                    models.CheckConstraint(
                        condition=models.Q(("stage__gte", 0)), name="punctual_safeguard_stage"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SafeguardIncident",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", max_length=20)),
                ("subject", models.CharField(db_collation="C", max_length=300)),
                ("sentence", models.TextField(help_text="What was found, for people.")),
                ("figures", models.JSONField()),
                (
                    "actions",
                    models.JSONField(help_text="Each with its time: what was held back, and let go again."),
                ),
                (
                    "stage",
                    models.SmallIntegerField(help_text="Where it is now; the highest it was, once it is closed."),
                ),
                ("dry", models.BooleanField(db_default=False, help_text="It was only told.")),
                ("forced_by", models.CharField(db_default="", max_length=150)),
                ("opened_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("closed_at", models.DateTimeField(null=True)),
                ("ending", models.TextField(db_default="", help_text="Why it ended.")),
            ],
            options={
                "db_table": "punctual_safeguard_incident",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("closed_at__isnull", False)),
                        fields=["closed_at"],
                        name="punctual_safeguard_closed",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)),
                        fields=("name", "subject"),
                        name="punctual_safeguard_incident_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Curb",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(db_collation="C", help_text="Of the safeguard, ...", max_length=20)),
                ("subject", models.CharField(db_collation="C", help_text="... and its subject.", max_length=300)),
                ("kind", models.CharField(db_collation="C", max_length=9)),
                (
                    "target",
                    models.CharField(db_collation="C", help_text="A lane, a type, a host, or *.", max_length=300),
                ),
                ("rate", models.FloatField(help_text="Tasks a second; 0: none.", null=True)),
                ("max_running", models.IntegerField(null=True)),
                ("since", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_curb",
                "default_permissions": (),
                "constraints": [
                    models.UniqueConstraint(
                        fields=("kind", "target", "name", "subject"), name="punctual_curb_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("kind__in", ["lane", "type", "retries", "host", "backfills", "triggers"])
                        ),
                        name="punctual_curb_kind",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Pulse",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "minute", "lane", "task_type", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("minute", models.DateTimeField()),
                ("lane", models.CharField(db_collation="C", max_length=8)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("ok", models.IntegerField()),
                ("failed", models.IntegerField()),
                ("run_us", models.BigIntegerField()),
                (
                    "lateness",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.IntegerField(), help_text="Histogram, see core/lateness.py.", size=None
                    ),
                ),
            ],
            options={"db_table": "punctual_pulse", "default_permissions": ()},
        ),
        migrations.CreateModel(
            name="PulseReader",
            fields=[
                ("id", models.SmallIntegerField(db_default=1, primary_key=True, serialize=False)),
                ("read_until", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "served_since",
                    models.JSONField(
                        db_default={}, help_text="By lane: since when it is served, and nobody holds it."
                    ),
                ),
                (
                    "sampled_at",
                    models.DateTimeField(help_text="When what costs more was last looked at.", null=True),
                ),
            ],
            options={
                "db_table": "punctual_pulse_reader",
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="punctual_pulse_reader_one")
                ],
            },
        ),
    ]
