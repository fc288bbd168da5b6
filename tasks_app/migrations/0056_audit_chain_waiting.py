"""The entries that there were before get their places, too: they wait for one from now on."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

STEP = 10_000
QUEUE = """
INSERT INTO punctual_audit_unchained (entry_id, created_at)
SELECT e.id, e.created_at FROM punctual_audit_entry e
WHERE e.id > %s AND e.id <= %s AND NOT EXISTS (SELECT FROM punctual_audit_link k WHERE k.entry_id = e.id)
ON CONFLICT DO NOTHING
"""


def queue(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """In steps, each committed by itself: whatever ends this half way, it can be run again."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(min(id), 1), coalesce(max(id), 0) FROM punctual_audit_entry")
        first, last = cursor.fetchone()
        for after in range(first - 1, last, STEP):
            cursor.execute(QUEUE, [after, after + STEP])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0055_audit_chain")]
    operations = [migrations.RunPython(queue, migrations.RunPython.noop)]
