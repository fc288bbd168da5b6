"""Storage: settings for tables from which rows go as fast as they come, care for partitions, an index of what failed.

docs/storage.md has the reason for each setting. None of them rewrites a table or makes a reader or a writer wait.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

# What is over is deleted from the live tables, so their vacuum has as much to do as the dispatchers.
# - vacuum_index_cleanup: a vacuum leaves the indexes alone where few pages have dead rows; the dead entries of what was
#   claimed lie all at the front of the due index, and every look would go on stepping over them.
# - vacuum_truncate: giving the last empty pages back takes the lock that even readers wait for, and they are needed again.
# - toast: what is too long for a row goes with it.
SET = """
ALTER TABLE punctual_task SET (
    vacuum_index_cleanup = on, vacuum_truncate = off,
    toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_cost_delay = 0, toast.vacuum_truncate = off);
ALTER TABLE punctual_batch SET (
    vacuum_index_cleanup = on, vacuum_truncate = off,
    toast.autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_cost_delay = 0, toast.vacuum_truncate = off);
ALTER TABLE punctual_job_cursor SET (
    fillfactor = 80, vacuum_index_cleanup = on,
    autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 500);
ALTER TABLE punctual_shard_lease SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_type_limit SET (fillfactor = 50, autovacuum_vacuum_threshold = 200);
ALTER TABLE punctual_unit_revision SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE punctual_idempotency_record SET (autovacuum_vacuum_scale_factor = 0.05);
"""
RESET = """
ALTER TABLE punctual_task RESET (
    vacuum_index_cleanup, vacuum_truncate,
    toast.autovacuum_vacuum_scale_factor, toast.autovacuum_vacuum_cost_delay, toast.vacuum_truncate);
ALTER TABLE punctual_batch RESET (
    vacuum_index_cleanup, vacuum_truncate,
    toast.autovacuum_vacuum_scale_factor, toast.autovacuum_vacuum_cost_delay, toast.vacuum_truncate);
ALTER TABLE punctual_job_cursor RESET (
    fillfactor, vacuum_index_cleanup, autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold);
ALTER TABLE punctual_shard_lease RESET (fillfactor, autovacuum_vacuum_threshold);
ALTER TABLE punctual_type_limit RESET (fillfactor, autovacuum_vacuum_threshold);
ALTER TABLE punctual_unit_revision RESET (fillfactor, autovacuum_vacuum_scale_factor);
ALTER TABLE punctual_idempotency_record RESET (autovacuum_vacuum_scale_factor);
"""

# They act with the rights of who migrates, on our own tables only, as those that make and drop partitions do.
# A table with partitions has no settings that they would inherit, so each partition gets them by itself. And autovacuum
# never analyses a table that has partitions: PostgreSQL 18 can do that alone, those before go through all of them.
FUNCTIONS = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;

CREATE FUNCTION punctual_tune_partition(part regclass) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class WHERE oid = part AND relispartition AND relkind = 'r')
       OR NOT starts_with(pg_partition_root(part)::text, 'punctual_') THEN
        RAISE EXCEPTION '% is no partition of one of our tables', part;
    END IF;
    EXECUTE format('ALTER TABLE %s SET (autovacuum_freeze_min_age = 0, toast.autovacuum_freeze_min_age = 0)', part);
END $$;

CREATE FUNCTION punctual_analyze(family regclass) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_class WHERE oid = family AND relkind = 'p')
       OR NOT starts_with(family::text, 'punctual_') THEN
        RAISE EXCEPTION '% is no table of ours that has partitions', family;
    END IF;
    IF current_setting('server_version_num')::int >= 180000 THEN
        EXECUTE format('ANALYZE ONLY %s', family);
    ELSE
        EXECUTE format('ANALYZE %s', family);
    END IF;
END $$;

REVOKE EXECUTE ON FUNCTION punctual_tune_partition(regclass) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_analyze(regclass) FROM PUBLIC;
SELECT set_config('search_path', current_setting('punctual.path'), TRUE);
"""
DROP_FUNCTIONS = """
DROP FUNCTION punctual_analyze(regclass);
DROP FUNCTION punctual_tune_partition(regclass);
"""


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("tasks_app", "0025_partitions")]

    operations = [
        migrations.RunSQL(SET, RESET),
        migrations.RunSQL(FUNCTIONS, DROP_FUNCTIONS),
        AddIndexConcurrently(
            "scheduletask",
            models.Index(
                fields=["task_type", "tenant"],
                name="punctual_task_failing",
                condition=models.Q(due_at__isnull=False, error_code__gt=""),
            ),
        ),
    ]
