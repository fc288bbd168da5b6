"""Campaigns: orders for many tasks, and the tasks that each of them chose. New tables; nothing else is touched."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

# Both are written to again and again while a campaign runs, and are small.
SET = """
ALTER TABLE punctual_campaign SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_campaign_chunk SET (autovacuum_vacuum_scale_factor = 0.05);
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0029_subscriptions")]

    operations = [
        migrations.CreateModel(
            name="Campaign",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "operation",
                    models.UUIDField(help_text="Of its audit entries; the same one never begins twice.", unique=True),
                ),
                (
                    "tenant",
                    models.CharField(
                        db_collation="C",
                        help_text="Whose tasks all of them are; empty: any.",
                        max_length=63,
                        null=True,
                    ),
                ),
                (
                    "task_type",
                    models.CharField(
                        db_collation="C", help_text="The type of all of them; empty: any.", max_length=100, null=True
                    ),
                ),
                ("kind", models.CharField(help_text="What is done to each task.", max_length=20)),
                ("state", models.CharField(db_default="RUNNING", max_length=9)),
                ("actor", models.CharField(max_length=150)),
                (
                    "from_tenant",
                    models.CharField(
                        db_collation="C",
                        help_text="The tenant of the token that began it; empty: a person, or the scheduler.",
                        max_length=63,
                        null=True,
                    ),
                ),
                ("reason", models.TextField()),
                ("selection", models.TextField(db_default="", help_text="What was looked for, in words.")),
                (
                    "options",
                    models.JSONField(
                        db_default={}, help_text="`at`: the new time of a move. `lane`: of what is released."
                    ),
                ),
                ("cap", models.IntegerField(help_text="No more tasks than this were chosen.")),
                ("rate", models.FloatField(help_text="Tasks a second; empty: as fast as it goes.", null=True)),
                ("total", models.IntegerField(db_default=0, help_text="Tasks that were chosen.")),
                ("more", models.BooleanField(db_default=False, help_text="There were more than these.")),
                (
                    "done",
                    models.IntegerField(db_default=0, help_text="Tasks that were dealt with, from the first on."),
                ),
                ("counts", models.JSONField(db_default={}, help_text="How many of them got which answer.")),
                (
                    "next_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(),
                        help_text="The rate allows the next step from here on.",
                    ),
                ),
                (
                    "holder",
                    models.CharField(db_default="", help_text="The beat that works on it.", max_length=200),
                ),
                (
                    "held_until",
                    models.DateTimeField(help_text="Others leave it to that beat until then.", null=True),
                ),
                (
                    "failures",
                    models.IntegerField(db_default=0, help_text="Steps that failed since the last that did not."),
                ),
                ("error", models.TextField(db_default="", help_text="The last of these failures.")),
                ("waiting", models.IntegerField(db_default=0)),
                ("succeeded", models.IntegerField(db_default=0)),
                ("died", models.IntegerField(db_default=0)),
                ("otherwise", models.IntegerField(db_default=0, help_text="Cancelled, replaced, or gone.")),
                (
                    "measure_at",
                    models.DateTimeField(help_text="When somebody looks again at those that wait.", null=True),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ("finished_at", models.DateTimeField(help_text="When it was done or cancelled.", null=True)),
            ],
            options={
                "db_table": "punctual_campaign",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "RUNNING")), fields=["next_at"], name="punctual_campaign_running"
                    ),
                    models.Index(
                        condition=models.Q(("measure_at__isnull", False)),
                        fields=["measure_at"],
                        name="punctual_campaign_measured",
                    ),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", False)),
                        fields=["finished_at"],
                        name="punctual_campaign_finished",
                    ),
                    models.Index(
                        condition=models.Q(("finished_at__isnull", True)), fields=["id"], name="punctual_campaign_open"
                    ),
                    models.Index(fields=["tenant", "id"], name="punctual_campaign_whose"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["RUNNING", "PAUSED", "CANCELLED", "DONE"])),
                        name="punctual_campaign_state",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("done__gte", 0), ("done__lte", models.F("total"))),
                        name="punctual_campaign_progress",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CampaignChunk",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField(help_text="From 0.")),
                (
                    "ids",
                    django.contrib.postgres.fields.ArrayField(base_field=models.BigIntegerField(), size=None),
                ),
                (
                    "released",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        db_default=[],
                        help_text="Those that it released and that are not known to be over.",
                        size=None,
                    ),
                ),
                (
                    "lanes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(),
                        db_default=[],
                        help_text="For each of these, the lane that it came from.",
                        size=None,
                    ),
                ),
                ("waiting", models.IntegerField(db_default=0, help_text="How many these are.")),
                ("measured_at", models.DateTimeField(help_text="When somebody last looked at them.", null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="chunks",
                        to="tasks_app.campaign",
                    ),
                ),
            ],
            options={
                "db_table": "punctual_campaign_chunk",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("waiting__gt", 0)),
                        fields=["campaign", "measured_at"],
                        name="punctual_campaign_chunk_open",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "number"), name="punctual_campaign_chunk_place")
                ],
            },
        ),
        migrations.RunSQL(SET, migrations.RunSQL.noop),
    ]
