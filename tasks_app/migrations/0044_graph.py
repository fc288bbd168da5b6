"""Graphs: jobs that wait for others, who waits for whom, and the runs. New tables; a job gets columns with defaults,
and checks that are not asked of the rows there are: each takes its lock for a moment.
"""

import django.db.models.functions.datetime
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

# The waits come and go with their tasks.
SET = """
ALTER TABLE punctual_wait SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.1);
"""
# Before this there was no such thing as waiting for others: what waits is cancelled, and a child, which has no schedule
# to go back to, is gone.
LEAVE = """
UPDATE punctual_task SET status = 'CANCELLED', error_code = 'CANCELLED', error_msg = 'graphs were uninstalled',
       cancelled_by = 'migration', finish_time = clock_timestamp(), updated_at = clock_timestamp()
WHERE status = 'BLOCKED' AND id IN (SELECT task FROM punctual_wait);
DELETE FROM punctual_job WHERE has_parents;
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0043_declared_jobs")]

    operations = [
        migrations.CreateModel(
            name="JobParent",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "job", "parent", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("job", models.BigIntegerField(help_text="The one that waits.")),
                ("parent", models.BigIntegerField(help_text="The one that it waits for.")),
            ],
            options={
                "db_table": "punctual_job_parent",
                "default_permissions": (),
                "indexes": [models.Index(fields=["parent", "job"], name="punctual_job_parent_child")],
            },
        ),
        migrations.CreateModel(
            name="TaskWait",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "task", "parent", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("task", models.BigIntegerField(help_text="The one that is BLOCKED.")),
                ("parent", models.BigIntegerField(help_text="The current row of the unit that it waits for.")),
                (
                    "ended",
                    models.CharField(
                        db_collation="C",
                        help_text=(
                            "How the parent ended, if somebody noted it: the row itself, while it is live, is what"
                            " counts."
                        ),
                        max_length=10,
                        null=True,
                    ),
                ),
            ],
            options={
                "db_table": "punctual_wait",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["parent"], name="punctual_wait_parent"),
                    models.Index(
                        condition=models.Q(("ended__in", ["CANCELLED", "DEAD"])),
                        fields=["parent", "task"],
                        name="punctual_wait_failed",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="GraphRun",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tenant", models.CharField(db_collation="C", max_length=63)),
                (
                    "job",
                    models.BigIntegerField(
                        help_text="The first of the graph: its root, or the job that somebody triggered."
                    ),
                ),
                (
                    "label",
                    models.CharField(
                        db_collation="C", help_text="The unit of each of its tasks is `job:label`.", max_length=200
                    ),
                ),
                ("fire_time", models.DateTimeField()),
                (
                    "nodes",
                    models.JSONField(help_text="A list for each job: its id, its name, and the ids of its parents."),
                ),
                ("created_at", models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                "db_table": "punctual_run",
                "verbose_name": "run of a graph",
                "verbose_name_plural": "runs of graphs",
                "default_permissions": (),
                "indexes": [
                    models.Index(fields=["job", "id"], name="punctual_run_job"),
                    models.Index(fields=["label"], name="punctual_run_label"),
                    models.Index(fields=["created_at"], name="punctual_run_made"),
                    models.Index(fields=["tenant", "id"], name="punctual_run_whose"),
                ],
                "constraints": [models.UniqueConstraint(fields=("job", "label"), name="punctual_run_unit")],
            },
        ),
        migrations.AddField(
            "jobdefinition",
            "has_parents",
            models.BooleanField(db_default=False, help_text="It runs after others, and has no schedule."),
        ),
        migrations.AddField("jobdefinition", "has_children", models.BooleanField(db_default=False)),
        migrations.AddField(
            "jobdefinition",
            "when",
            models.CharField(
                db_column="run_when", db_default="all_success", help_text="What it waits for.", max_length=11
            ),
        ),
        migrations.AddField("jobdefinition", "if_parent_fails", models.CharField(db_default="wait", max_length=6)),
        AddConstraintNotValid(
            "jobdefinition",
            models.CheckConstraint(
                condition=models.Q(("when__in", ["all_success", "all_done", "any_failed"])), name="punctual_job_when"
            ),
        ),
        AddConstraintNotValid(
            "jobdefinition",
            models.CheckConstraint(
                condition=models.Q(("if_parent_fails__in", ["wait", "cancel"])), name="punctual_job_if_parent_fails"
            ),
        ),
        AddConstraintNotValid(
            "jobdefinition",
            models.CheckConstraint(
                condition=models.Q(
                    ("has_parents", False),
                    models.Q(("cron", ""), ("cursor__isnull", True), ("every", 0), ("run_at__isnull", True)),
                    _connector="OR",
                ),
                name="punctual_job_child_has_no_schedule",
            ),
        ),
        migrations.RunSQL(SET, migrations.RunSQL.noop),
        migrations.RunSQL(migrations.RunSQL.noop, LEAVE),  # on the way back it is the first
    ]
