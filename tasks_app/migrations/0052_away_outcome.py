"""Outcomes of tasks that were away, for the figures of minutes; and how many of those are such."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0051_recovery")]

    operations = [
        migrations.CreateModel(
            name="AwayOutcome",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", models.DateTimeField()),
                ("lane", models.CharField(db_collation="C", max_length=8)),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("ok", models.IntegerField()),
                ("failed", models.IntegerField()),
            ],
            options={
                "db_table": "punctual_away_outcome",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="punctual_away_outcome_at")],
            },
        ),
        *(
            migrations.AddField(
                model,
                "returned",
                models.IntegerField(
                    db_default=0, help_text="Of the outcomes: of tasks that were away, which took no time."
                ),
            )
            for model in ("pulse", "minutefigures")
        ),
    ]
