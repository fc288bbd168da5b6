"""Service levels: each minute of the installation, and sums up to it."""

import django.contrib.postgres.fields
from django.db import migrations, models


def _lanes(says: str) -> django.contrib.postgres.fields.ArrayField:
    return django.contrib.postgres.fields.ArrayField(
        base_field=models.CharField(db_collation="C", max_length=8), help_text=says, size=None
    )


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0045_counts")]

    operations = [
        migrations.CreateModel(
            name="ServiceMinute",
            fields=[
                ("minute", models.DateTimeField(primary_key=True, serialize=False)),
                ("state", models.CharField(help_text="UP, DOWN; or IDLE: no lane was served.", max_length=4)),
                ("served", _lanes("Lanes in which a canary should have flown.")),
                ("down", _lanes("Of these, where it did not come back in time.")),
                ("lost", _lanes("Lanes whose last worker died, and none came back.")),
                ("paused", _lanes("Lanes that would be served if nobody had paused them.")),
                ("up_minutes", models.IntegerField()),
                ("down_minutes", models.IntegerField()),
                ("ok", models.BigIntegerField(help_text="Runs that succeeded; no canaries.")),
                ("failed", models.BigIntegerField()),
                (
                    "lateness",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(), help_text="Histogram, see core/lateness.py.", size=None
                    ),
                ),
            ],
            options={
                "db_table": "punctual_service_minute",
                "default_permissions": (),
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "DOWN")), fields=["-minute"], name="punctual_service_minute_down"
                    )
                ],
            },
        ),
    ]
