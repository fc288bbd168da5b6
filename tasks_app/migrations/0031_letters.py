"""Dead letters by cause: fingerprint, tags, the code that failed, the job, indexes; and tries that wait for a budget."""

from typing import Any

import django.contrib.postgres.fields
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import Q

STEP = 2_000  # letters in one transaction

# Two failures have one cause if type, error code and the app's code that failed are the same, and the first line of the
# message is but for what differs from task to task: quoted values, addresses, ids, numbers and times.
# A trigger calls it for letters of processes that know nothing of causes yet.
SET = r"""
CREATE FUNCTION punctual_fingerprint(task_type text, code text, message text, frame text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
DECLARE
    line text := left(split_part(btrim(message, E' \t\r\n'), E'\n', 1), 500);
BEGIN
    line := regexp_replace(line, $re$"[^"]*"|`[^`]*`|(?<!\w)'[^']*'(?!\w)$re$, '#', 'g');
    line := regexp_replace(line, '\S+@\S+', '#', 'g');
    line := regexp_replace(line, '[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}', '#', 'g');
    line := regexp_replace(line, '\m(Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\M', '#', 'g');
    line := regexp_replace(line, '\w*\d\w*|\m[a-fA-F]{8,}\M', '#', 'g');
    line := regexp_replace(line, '(?<!\w)[-+]#', '#', 'g');
    line := regexp_replace(line, '#([-+:.,/ _]*#)+', '#', 'g');
    line := regexp_replace(line, '\s+', ' ', 'g');
    RETURN left(encode(sha256(convert_to(
        task_type || E'\x1f' || code || E'\x1f' || line || E'\x1f' || frame, 'UTF8')), 'hex'), 16);
END $$;

CREATE FUNCTION punctual_dead_letter_cause() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.fingerprint := punctual_fingerprint(NEW.task_type, NEW.error_code, NEW.error_msg, NEW.frame);
    RETURN NEW;
END $$;
CREATE TRIGGER punctual_dead_letter_cause BEFORE INSERT ON punctual_dead_letter
    FOR EACH ROW WHEN (NEW.fingerprint = '') EXECUTE FUNCTION punctual_dead_letter_cause();
"""
RESET = """
DROP TRIGGER punctual_dead_letter_cause ON punctual_dead_letter;
DROP FUNCTION punctual_dead_letter_cause();
DROP FUNCTION punctual_fingerprint(text, text, text, text);
"""

FILL = """
WITH stretch AS MATERIALIZED (
    SELECT id FROM punctual_dead_letter WHERE id > %(after)s ORDER BY id LIMIT %(step)s
), filled AS (
    UPDATE punctual_dead_letter d
    SET fingerprint = punctual_fingerprint(d.task_type, d.error_code, d.error_msg, d.frame),
        job = (SELECT t.job FROM punctual_task t WHERE t.id = d.task_id)
    WHERE d.id IN (SELECT id FROM stretch) AND d.fingerprint = ''
)
SELECT max(id) FROM stretch
"""

OPEN = Q(replay_status="OPEN")
INDEXES = {
    "punctual_dead_letter_open": ["created_at", "id"],
    "punctual_dead_letter_whose": ["tenant", "created_at", "id"],
    "punctual_dead_letter_cause": ["fingerprint", "created_at", "id"],
    "punctual_dead_letter_own_cause": ["tenant", "fingerprint", "created_at", "id"],
}


def fill(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """The letters that were there before the trigger, in steps that are committed by themselves."""
    after = 0
    while after is not None:
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(FILL, {"after": after, "step": STEP})
            (after,) = cursor.fetchone()


def _concurrently() -> list[Any]:
    """Each index, after one that an interrupted run may have left half built."""
    made = []
    for name, fields in INDEXES.items():
        made.append(migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop))
        made.append(AddIndexConcurrently("dlqentry", models.Index(fields=fields, name=name, condition=OPEN)))
    return made


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0030_campaigns")]

    operations = [
        migrations.AddField(
            "dlqentry",
            "fingerprint",
            models.CharField(
                db_collation="C",
                db_default="",
                help_text="The same for all of one cause; punctual_fingerprint() makes it.",
                max_length=16,
            ),
        ),
        migrations.AddField(
            "dlqentry",
            "frame",
            models.CharField(
                db_default="",
                help_text="Module and function of the app's code that failed, if it is known.",
                max_length=200,
            ),
        ),
        migrations.AddField(
            "dlqentry",
            "traceback",
            models.TextField(db_default="", help_text="Where it was raised, unless the message says so."),
        ),
        migrations.AddField(
            "dlqentry",
            "tags",
            django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=50), db_default=[], size=None
            ),
        ),
        migrations.AddField(
            "dlqentry", "job", models.BigIntegerField(help_text="The job it is an instance of.", null=True)
        ),
        migrations.AddField(
            "taskattempt",
            "held_by",
            models.CharField(
                help_text="Whose retry budget was spent, so that the next try waits for it.", max_length=120, null=True
            ),
        ),
        migrations.RunSQL(SET, RESET),
        migrations.RunPython(fill, migrations.RunPython.noop),
        *_concurrently(),
    ]
