"""Everything of ours in the database begins with punctual_, so that it can stand beside the tables of any project.

The migrations before this one make the tables by their new names. An installation that has run them when the names were
others is carried over here: only names change, so every lock is held for a moment.
"""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

TABLES = {
    "api_token": "punctual_api_token",
    "audit_entry": "punctual_audit_entry",
    "dlq_entry": "punctual_dead_letter",
    "idempotency_record": "punctual_idempotency_record",
    "job_cursor": "punctual_job_cursor",
    "job_definition": "punctual_job",
    "lane_pause": "punctual_lane_pause",
    "maintenance_entry": "punctual_chore",
    "minute_figures": "punctual_minute_figures",
    "node": "punctual_node",
    "outbox_event": "punctual_outbox",
    "schedule_task": "punctual_task",
    "shard_lease": "punctual_shard_lease",
    "task_attempt": "punctual_attempt",
    "task_batch": "punctual_batch",
    "type_limit": "punctual_type_limit",
    "unit_revision": "punctual_unit_revision",
}
RENAME = """
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN
        SELECT conname FROM pg_constraint WHERE conrelid = '{new}'::regclass AND conname LIKE '{old}\\_%'
    LOOP
        EXECUTE format('ALTER TABLE {new} RENAME CONSTRAINT %I TO %I',
                       one.conname, '{new}' || substr(one.conname, length('{old}') + 1));
    END LOOP;
    FOR one IN
        SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = '{new}'::regclass AND c.relname LIKE '{old}\\_%'
    LOOP
        EXECUTE format('ALTER INDEX %I RENAME TO %I',
                       one.relname, '{new}' || substr(one.relname, length('{old}') + 1));
    END LOOP;
    FOR one IN
        SELECT c.relname FROM pg_depend d JOIN pg_class c ON c.oid = d.objid AND c.relkind = 'S'
        WHERE d.refobjid = '{new}'::regclass AND d.classid = 'pg_class'::regclass AND c.relname LIKE '{old}\\_%'
    LOOP
        EXECUTE format('ALTER SEQUENCE %I RENAME TO %I',
                       one.relname, '{new}' || substr(one.relname, length('{old}') + 1));
    END LOOP;
    FOR one IN
        SELECT tgname FROM pg_trigger WHERE tgrelid = '{new}'::regclass AND tgname LIKE '{old}\\_%' AND NOT tgisinternal
    LOOP
        EXECUTE format('ALTER TRIGGER %I ON {new} RENAME TO %I',
                       one.tgname, '{new}' || substr(one.tgname, length('{old}') + 1));
    END LOOP;
END $$
"""
# Longer than an index of Django's may be called.
SHORTER = "ALTER INDEX IF EXISTS punctual_idempotency_record_age RENAME TO punctual_idempotency_age"
FUNCTION = """
ALTER FUNCTION audit_entry_only_grows() RENAME TO punctual_audit_entry_only_grows;
CREATE OR REPLACE FUNCTION punctual_audit_entry_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'punctual_audit_entry is append-only: % is refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;
"""


def rename(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('punctual_task')")
        if cursor.fetchone()[0] is not None:
            return  # it was made by its new name; a table that is called `node` is somebody else's
        for old, new in TABLES.items():
            cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")
            cursor.execute(RENAME.format(old=old, new=new))
        cursor.execute(SHORTER)
        cursor.execute(FUNCTION)


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0010_token_page")]
    operations = [migrations.RunPython(rename, migrations.RunPython.noop)]
