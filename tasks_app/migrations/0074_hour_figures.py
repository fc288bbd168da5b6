"""Figures by the hour, for a month; the beats sum up the minutes that are there."""

import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0073_quota_use")]

    operations = [
        migrations.CreateModel(
            "HourFigures",
            [
                ("hour", models.DateTimeField(primary_key=True, serialize=False)),
                ("batches", models.BigIntegerField()),
                ("returned", models.BigIntegerField(help_text="Of the outcomes: of tasks that were away.")),
                ("ok", models.BigIntegerField()),
                ("failed", models.BigIntegerField()),
                (
                    "lateness",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), help_text="Histogram, see core/lateness.py.", size=None
                    ),
                ),
            ],
            options={
                "db_table": "punctual_hour_figures",
                "default_permissions": (),
                "verbose_name_plural": "hour figures",
            },
        ),
    ]
