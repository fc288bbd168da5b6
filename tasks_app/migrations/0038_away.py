"""Tasks that somebody else has: a state, who has them until when, and what was reported too early.

The wider checks are not asked of the rows there are: each takes its lock for a moment.
"""

from typing import Any

import django.db.models.functions.datetime
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models
from django.db.models import Q

STATES = ("BLOCKED", "INIT", "RUNNING", "AWAY", "SUCCESS", "FAIL", "DEAD", "CANCELLED")
STATUS = models.CharField(max_length=9, choices=[(one, one) for one in STATES])

# Before this there was no such state: what is away is due again, as if its worker had been lost.
DUE_AGAIN = """
UPDATE punctual_task SET status = CASE WHEN attempt > 0 THEN 'FAIL' ELSE 'INIT' END,
    due_at = coalesce(claimed_due, clock_timestamp()) WHERE status = 'AWAY'
"""


def wider(name: str, condition: Q) -> list[Any]:
    return [
        migrations.RemoveConstraint("scheduletask", name),
        AddConstraintNotValid("scheduletask", models.CheckConstraint(condition=condition, name=name)),
    ]


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0037_progress")]

    operations = [
        migrations.CreateModel(
            name="AwayTask",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("run", models.UUIDField(help_text="The batch that handed it over: what is reported must name it.")),
                ("task_type", models.CharField(db_collation="C", max_length=100)),
                ("worker", models.CharField(max_length=200)),
                ("lease", models.FloatField(help_text="Seconds that each report of progress gives it.")),
                ("since", models.DateTimeField()),
                ("until", models.DateTimeField(help_text="Lost, if nothing is heard of it by then.")),
            ],
            options={
                "db_table": "punctual_away",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["until"], name="punctual_away_until"),
                    models.Index(fields=["task_type"], name="punctual_away_type"),
                ],
            },
        ),
        migrations.CreateModel(
            name="EarlyReport",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("run", models.UUIDField()),
                ("outcome", models.CharField(help_text="complete or fail.", max_length=8)),
                ("body", models.JSONField()),
                ("at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_early_report",
                "default_permissions": (),
                "indexes": [models.Index(fields=["at"], name="punctual_early_report_at")],
            },
        ),
        # One more choice, of which the database knows nothing.
        migrations.SeparateDatabaseAndState(
            [], [migrations.AlterField(model, "status", STATUS.clone()) for model in ("scheduletask", "pasttask", "anytask")]
        ),
        *wider("punctual_task_status", Q(status__in=list(STATES))),
        *wider(
            "punctual_task_live_is_current",
            Q(current=True) | (Q(due_at__isnull=True) & ~Q(status__in=["RUNNING", "AWAY", "BLOCKED"])),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, DUE_AGAIN),  # on the way back it is the first
    ]
