"""Backfills: campaigns that make instances of jobs for firings of the past; and how many tasks one may have under way."""

import django.contrib.postgres.fields
import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0040_overlap")]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="most_running",
            field=models.IntegerField(
                help_text="So many of what it released may not be over yet; empty: any number.", null=True
            ),
        ),
        migrations.AlterField(
            model_name="campaign",
            name="options",
            field=models.JSONField(
                db_default={},
                help_text=(
                    "`at`: the new time of a move. `lane`: of what is released. `which`: the firings of a backfill."
                ),
            ),
        ),
        migrations.AddField(
            model_name="campaignchunk",
            name="jobs",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(),
                help_text="Of a backfill that makes instances, instead of ids: the jobs,",
                null=True,
                size=None,
            ),
        ),
        migrations.AddField(
            model_name="campaignchunk",
            name="fires",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.DateTimeField(),
                help_text="and for each of these the firing.",
                null=True,
                size=None,
            ),
        ),
        migrations.CreateModel(
            name="Backfill",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("job", models.BigIntegerField()),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField()),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                (
                    "campaign",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="backfills",
                        to="tasks_app.campaign",
                    ),
                ),
            ],
            options={
                "db_table": "punctual_backfill",
                "default_permissions": (),
                "indexes": [models.Index(fields=["job", "campaign"], name="punctual_backfill_job")],
            },
        ),
    ]
