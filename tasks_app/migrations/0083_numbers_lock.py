"""Whoever skips numbers gives their lock back, also if it fails or is cancelled meanwhile: then all others went on waiting."""

from django.db import migrations

FUNCTION = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;

CREATE OR REPLACE FUNCTION punctual_skip_numbers() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    -- One at a time: else one could set back what the other has set, and from which others have drawn.
    PERFORM pg_advisory_xact_lock(hashtextextended('punctual_numbers', 0));
    -- More than any standby lags behind that is promoted; there are numbers for nine trillion failovers.
    PERFORM setval(s.name, nextval(s.name) + 1000000)
    FROM unnest(ARRAY[pg_get_serial_sequence('punctual_task', 'id'), pg_get_serial_sequence('punctual_outbox', 'id')])
         AS s(name);
    -- Taken back, but for the numbers: so nobody waits for the lock for longer than this takes, whatever becomes of it.
    RAISE EXCEPTION USING ERRCODE = 'PN001';
EXCEPTION WHEN SQLSTATE 'PN001' THEN
    NULL;
END $$;
SELECT set_config('search_path', current_setting('punctual.path'), TRUE);
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0082_numbers")]

    operations = [migrations.RunSQL(FUNCTION, migrations.RunSQL.noop)]
