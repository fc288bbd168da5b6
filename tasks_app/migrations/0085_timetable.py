"""The timetable: an entry that stays in its index until the row goes to the past, so that a claim writes to no index.

What has no entry waits apart, by wait_at, which a trigger keeps: whoever writes due_at need not know of either.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Q
from django.db.models.functions import Now

STEP = 20_000

# Claim and settle leave a wait_at that fits, and so does an insert with an entry: none of them pays for a call.
TRIGGERS = """
CREATE OR REPLACE FUNCTION punctual_wait_apart() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.wait_at := NEW.due_at;
    RETURN NEW;
END $$;
CREATE OR REPLACE TRIGGER punctual_new_waits_apart BEFORE INSERT ON punctual_task FOR EACH ROW
WHEN (NEW.wait_at IS DISTINCT FROM NEW.due_at AND NEW.entry_at IS DISTINCT FROM NEW.due_at)
EXECUTE FUNCTION punctual_wait_apart();
CREATE OR REPLACE TRIGGER punctual_waits_apart BEFORE UPDATE ON punctual_task FOR EACH ROW
WHEN (NEW.wait_at IS DISTINCT FROM NEW.due_at
      AND (NEW.due_at IS DISTINCT FROM OLD.due_at OR NEW.wait_at IS NOT NULL OR NEW.entry_at IS DISTINCT FROM OLD.entry_at
           OR NEW.lane <> OLD.lane OR NEW.shard <> OLD.shard OR NEW.limited <> OLD.limited
           OR NEW.repeat_after IS NOT NULL))
EXECUTE FUNCTION punctual_wait_apart();
"""
NO_TRIGGERS = """
DROP TRIGGER IF EXISTS punctual_waits_apart ON punctual_task;
DROP TRIGGER IF EXISTS punctual_new_waits_apart ON punctual_task;
DROP FUNCTION IF EXISTS punctual_wait_apart();
"""
INDEXES = (
    models.Index(fields=["shard", "lane", "entry_at", "id"], name="punctual_task_entry", condition=Q(entry_at__isnull=False)),
    models.Index(
        fields=["shard", "lane", "wait_at"],
        name="punctual_task_wait",
        condition=Q(wait_at__isnull=False, limited=False),
    ),
    models.Index(
        fields=["task_type", "lane", "wait_at"],
        include=["tenant"],
        name="punctual_task_wait_limited",
        condition=Q(wait_at__isnull=False, limited=True),
    ),
    models.Index(
        fields=["task_type", "tenant", "wait_at"],
        name="punctual_task_wait_rolling",
        condition=Q(wait_at__isnull=False, limited=False, repeat_after__isnull=False),
    ),
    models.Index(
        fields=["task_type", "tenant"],
        name="punctual_task_wait_failing",
        condition=Q(wait_at__isnull=False, error_code__gt=""),
    ),
)


def let_wait(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """What waits already has no entry. The trigger writes wait_at, and does so again for what is changed meanwhile."""
    with editor.connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(min(id), 0), coalesce(max(id), -1) FROM punctual_task")
        first, last = cursor.fetchone()
        for after in range(first - 1, last, STEP):
            cursor.execute(
                "UPDATE punctual_task SET wait_at = due_at"
                " WHERE id > %s AND id <= %s AND due_at IS NOT NULL AND wait_at IS NULL AND entry_at IS NULL",
                [after, after + STEP],
            )


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tasks_app", "0084_lists_without_statistics")]

    operations = [
        migrations.CreateModel(
            "Timetable",
            [
                ("shard", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("passed", models.JSONField(db_default={}, help_text="Of each lane: the moment before which nothing waits.")),
                ("noted_at", models.DateTimeField(db_default=Now(), help_text="When somebody looked last.")),
                (
                    "mark_at",
                    models.DateTimeField(
                        db_default=Now(), help_text="Who got a number later makes no entry before."
                    ),
                ),
                (
                    "mark_xid",
                    models.BigIntegerField(help_text="Whose number is larger has got it after mark_at."),
                ),
            ],
            options={"db_table": "punctual_timetable", "default_permissions": ()},
        ),
        # A few rows, written every second.
        migrations.RunSQL(
            "ALTER TABLE punctual_timetable SET (fillfactor = 50, autovacuum_vacuum_threshold = 200)",
            migrations.RunSQL.noop,
        ),
        migrations.AddField(
            "scheduletask",
            "entry_at",
            models.DateTimeField(null=True, help_text="What due_at was when it was new, if that was yet to come."),
        ),
        migrations.AddField(
            "scheduletask",
            "wait_at",
            models.DateTimeField(null=True, help_text="What due_at is, unless it waits at its entry."),
        ),
        migrations.RunSQL(TRIGGERS, NO_TRIGGERS),
        migrations.RunPython(let_wait, migrations.RunPython.noop),
        # If building one was interrupted, PostgreSQL has left an index that is not valid: it goes first.
        *(
            operation
            for index in INDEXES
            for operation in (
                migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {index.name}", migrations.RunSQL.noop),
                AddIndexConcurrently("scheduletask", index),
            )
        ),
    ]
