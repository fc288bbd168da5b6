"""No statistics of lists that no statement searches: to count the ids in thousands of batches takes an ANALYZE seconds."""

from django.db import migrations

LISTS = {
    "punctual_batch": ("ids", "lateness"),
    "punctual_past_batch": ("ids", "lateness"),
    "punctual_outbox": ("task_ids", "keys", "jobs", "fire_times", "idem_keys", "attempts", "states"),
}
# With those of its partitions. A partition that comes later gets it from the chore that tunes new ones.
TARGET = "ALTER TABLE {0} {1};"

FUNCTION = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;

CREATE OR REPLACE FUNCTION punctual_tune_partition(part regclass) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
DECLARE
    list name;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class WHERE oid = part AND relispartition AND relkind = 'r')
       OR NOT starts_with(pg_partition_root(part)::text, 'punctual_') THEN
        RAISE EXCEPTION '% is no partition of one of our tables', part;
    END IF;
    EXECUTE format('ALTER TABLE %s SET (autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0)', part);
    FOR list IN SELECT attname FROM pg_attribute WHERE attrelid = pg_partition_root(part) AND attnum > 0 AND attstattarget = 0
    LOOP
        EXECUTE format('ALTER TABLE %s ALTER COLUMN %I SET STATISTICS 0', part, list);
    END LOOP;
END $$;
SELECT set_config('search_path', current_setting('punctual.path'), TRUE);
"""


def _target(table: str, target: int) -> str:
    return TARGET.format(table, ", ".join(f"ALTER COLUMN {name} SET STATISTICS {target}" for name in LISTS[table]))


class Migration(migrations.Migration):
    atomic = False  # it waits for one table while it has no other
    dependencies = [("tasks_app", "0083_numbers_lock")]

    operations = [
        migrations.RunSQL(FUNCTION, migrations.RunSQL.noop),
        *(migrations.RunSQL(_target(table, 0), _target(table, -1)) for table in LISTS),
    ]
