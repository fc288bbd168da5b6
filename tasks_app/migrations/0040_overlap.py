"""What a job does when a firing comes while an older instance is under way, and the turns of those that wait.

One step at a time, each with its lock for a moment: the table of jobs may be large.
"""

from django.contrib.postgres.operations import AddConstraintNotValid, AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models

POLICIES = ("skip", "queue_one", "queue_all", "replace")

# Each row is written two or three times in its short life, and is looked for by those who wait for nothing else.
SET = "ALTER TABLE punctual_turn SET (autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0.05)"

# Before this nobody gave turns: what waits for one would wait for ever.
RELEASE = """
UPDATE punctual_task t SET status = 'INIT', due_at = greatest(w.at, clock_timestamp()), updated_at = clock_timestamp()
FROM punctual_turn w WHERE w.task = t.id AND t.status = 'BLOCKED'
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0038_away_checked")]

    operations = [
        migrations.AddField(
            "jobdefinition",
            "overlap",
            models.CharField(
                max_length=9, db_default="allow", help_text="What a firing does while an older instance is under way."
            ),
        ),
        AddConstraintNotValid(
            "jobdefinition",
            models.CheckConstraint(
                condition=models.Q(overlap__in=["allow", *POLICIES]), name="punctual_job_overlap"
            ),
        ),
        ValidateConstraint("jobdefinition", "punctual_job_overlap"),
        AddIndexConcurrently(
            "jobdefinition",
            models.Index(
                fields=["cursor"],
                name="punctual_job_turns",
                condition=models.Q(status="ACTIVE") & ~models.Q(overlap="allow"),
            ),
        ),
        migrations.CreateModel(
            name="Turn",
            fields=[
                ("task", models.BigIntegerField(primary_key=True, serialize=False)),
                ("job", models.BigIntegerField()),
                (
                    "shard",
                    models.SmallIntegerField(help_text="Of the job: the beat that dispatches it gives the turns."),
                ),
                (
                    "at",
                    models.DateTimeField(help_text="When it wants to run; those that wait go in this order."),
                ),
                ("policy", models.CharField(help_text="What it does if it is not its turn then.", max_length=9)),
                (
                    "state",
                    models.CharField(
                        db_default="new",
                        help_text="new: nothing is decided; queued: it waits; taken: it may run.",
                        max_length=6,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_turn",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["job", "state", "at", "task"], name="punctual_turn_line"),
                    models.Index(
                        fields=["shard", "at"], name="punctual_turn_new", condition=models.Q(("state", "new"))
                    ),
                    models.Index(
                        fields=["shard", "job"], name="punctual_turn_queued", condition=models.Q(("state", "queued"))
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["new", "queued", "taken"])), name="punctual_turn_state"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("policy__in", list(POLICIES))), name="punctual_turn_policy"
                    ),
                ],
            },
        ),
        migrations.RunSQL(SET, migrations.RunSQL.noop),
        migrations.RunSQL(migrations.RunSQL.noop, RELEASE),  # on the way back it is the first
    ]
