"""Encrypted payloads of tasks in bytes, with keys that are made from now on.

Columns without a default, or with one that is not written: each takes its lock for a moment. What is stored stays as it
is, and is read as before.
"""

from django.db import migrations, models

# A new column goes to its end; whoever may read it may go on. Its options have to be said again.
VIEW = """
DO $$
DECLARE
    ours text := (SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum) FROM pg_attribute
                  WHERE attrelid = 'punctual_any_task'::regclass AND attnum > 0 AND NOT attisdropped
                    AND attname <> 'payload_bytes');
    live text := replace(replace(ours, 'retention', 'NULL::varchar(20) COLLATE "C" AS retention'),
                         'worker', 'NULL::varchar(200) AS worker');
BEGIN
    EXECUTE format('CREATE OR REPLACE VIEW punctual_any_task WITH (security_invoker = true) AS
        SELECT %s, {bytes} FROM punctual_task UNION ALL SELECT %s, {bytes} FROM punctual_past', live, ours);
END $$
"""


# Of two operations, the last is the first to be reversed.
NO_WAY_BACK = """
DO $$
BEGIN
    IF EXISTS (SELECT FROM punctual_tenant_key WHERE in_bytes) THEN
        RAISE EXCEPTION 'payloads are stored in bytes by keys of tenants, and would be lost with the column payload_bytes'
            USING HINT = 'Stay at this version, or restore a backup of before.';
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0077_payload_bytes_of_the_past")]

    operations = [
        migrations.AddField(
            "tenantkey",
            "in_bytes",
            models.BooleanField(
                db_default=False,
                help_text="Payloads of tasks are stored in bytes. Not with a key of before: processes of then can't read them.",
            ),
        ),
        migrations.AddField(
            "scheduletask",
            "payload_bytes",
            models.BinaryField(null=True, help_text="An encrypted payload; the other field names its key."),
        ),
        migrations.RunSQL(
            VIEW.replace("{bytes}", "payload_bytes"), VIEW.replace("{bytes}", "NULL::bytea AS payload_bytes")
        ),
        migrations.RunSQL(migrations.RunSQL.noop, NO_WAY_BACK),
    ]
