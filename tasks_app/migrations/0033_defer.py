"""Effects that are handed on: who deferred them and where they went, how long they are retried, and a lane for them.

Columns without a default, and checks that are not asked of the rows there are: each takes its lock for a moment.
"""

from typing import Any

import django.contrib.postgres.fields
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

LANES = ("critical", "high", "default", "low", "deferred", "backfill")

# New columns go to its end; whoever may read it may go on.
VIEW = """
DO $$
DECLARE
    ours text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                  WHERE attrelid = 'punctual_any_task'::regclass AND attnum > 0 AND NOT attisdropped
                    AND attname NOT IN ('retention', 'worker'));
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW punctual_any_task AS
        SELECT %s, NULL::varchar(20) COLLATE "C" AS retention, NULL::varchar(200) AS worker,
               deferred_from, deferred, retry_for FROM punctual_task
        UNION ALL SELECT %s, retention, worker, deferred_from, deferred, retry_for FROM punctual_past', ours, ours);
END $$
"""
VIEW_BEFORE = """
DROP VIEW punctual_any_task;
DO $$
DECLARE
    ours text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                  WHERE attrelid = 'punctual_task'::regclass AND attnum > 0 AND NOT attisdropped
                    AND attname NOT IN ('deferred_from', 'deferred', 'retry_for'));
BEGIN
    EXECUTE format('CREATE VIEW punctual_any_task AS
        SELECT %s, NULL::varchar(20) COLLATE "C" AS retention, NULL::varchar(200) AS worker
        FROM punctual_task UNION ALL SELECT %s, retention, worker FROM punctual_past', ours, ours);
END $$
"""
# Before this there was no such lane: what is in it goes on in the one that is like it.
OTHER_LANE = """
UPDATE punctual_task SET lane = 'low' WHERE lane = 'deferred';
UPDATE punctual_job SET lane = 'low' WHERE lane = 'deferred';
DELETE FROM punctual_lane_pause WHERE lane = 'deferred';
DELETE FROM punctual_lane_resume WHERE lane = 'deferred';
"""


def columns(model: str) -> list[migrations.AddField]:
    return [
        migrations.AddField(
            model,
            "deferred_from",
            models.BigIntegerField(null=True, help_text="The task that handed this effect on."),
        ),
        migrations.AddField(
            model,
            "deferred",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.BigIntegerField(),
                null=True,
                size=None,
                help_text="The tasks that its effects were handed on to.",
            ),
        ),
        migrations.AddField(
            model,
            "retry_for",
            models.DurationField(
                null=True, help_text="Retried until so long past execute_time, however often; empty: max_retry times."
            ),
        ),
    ]


def wider(model: str, name: str) -> list[Any]:
    return [
        migrations.RemoveConstraint(model, name),
        AddConstraintNotValid(model, models.CheckConstraint(condition=models.Q(lane__in=LANES), name=name)),
    ]


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0032_alarms")]

    operations = [
        *columns("scheduletask"),
        *columns("pasttask"),
        migrations.RunSQL(VIEW, VIEW_BEFORE),
        *wider("scheduletask", "punctual_task_lane"),
        *wider("jobdefinition", "punctual_job_lane"),
        migrations.RunSQL(migrations.RunSQL.noop, OTHER_LANE),  # on the way back it is the first
    ]
