"""No number of a task or an event is given out twice, also where a standby was promoted that didn't know them all.

Whoever has seen a number would take another task, or another event, for it. So before a session draws its first, it
looks whether its server is the one that is noted; and who notes another one skips as many, too.
"""

from django.db import migrations

# A session never leaves its server, so one look is enough for each. Until somebody notes the new server, each skips some.
FUNCTIONS = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;

CREATE OR REPLACE FUNCTION punctual_skip_numbers() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    -- One at a time: else one could set back what the other has set, and from which others have drawn. No transaction waits
    -- for the lock of another for longer than this takes.
    PERFORM pg_advisory_lock(hashtextextended('punctual_numbers', 0));
    -- More than any standby lags behind that is promoted; there are numbers for nine trillion failovers.
    PERFORM setval(s.name, nextval(s.name) + 1000000)
    FROM unnest(ARRAY[pg_get_serial_sequence('punctual_task', 'id'), pg_get_serial_sequence('punctual_outbox', 'id')])
         AS s(name);
    PERFORM pg_advisory_unlock(hashtextextended('punctual_numbers', 0));
END $$;

CREATE OR REPLACE FUNCTION punctual_know_server() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    noted integer;
    here integer;
BEGIN
    SELECT facts->>'timeline' INTO noted FROM punctual_installation WHERE id = 1;
    IF noted IS NOT NULL THEN
        BEGIN
            here := ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer;
        EXCEPTION WHEN OTHERS THEN
            NULL;  -- a server that keeps its log to itself
        END;
        IF noted <> here THEN
            PERFORM punctual_skip_numbers();
        END IF;
    END IF;
    PERFORM set_config('punctual.knows_server', 'yes', FALSE);
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION punctual_other_server() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM punctual_skip_numbers();
    RETURN NEW;
END $$;

REVOKE EXECUTE ON FUNCTION punctual_skip_numbers() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_know_server() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_other_server() FROM PUBLIC;
SELECT set_config('search_path', current_setting('punctual.path'), TRUE);
"""
DROP_FUNCTIONS = """
DROP FUNCTION IF EXISTS punctual_other_server();
DROP FUNCTION IF EXISTS punctual_know_server();
DROP FUNCTION IF EXISTS punctual_skip_numbers();
"""

BEFORE_THE_FIRST = """
CREATE OR REPLACE TRIGGER punctual_know_server BEFORE INSERT ON {0} FOR EACH STATEMENT
WHEN (coalesce(current_setting('punctual.knows_server', TRUE), '') = '') EXECUTE FUNCTION punctual_know_server();
"""
NOTED = """
CREATE OR REPLACE TRIGGER punctual_other_server BEFORE UPDATE OF facts ON punctual_installation FOR EACH ROW
WHEN (OLD.facts->>'timeline' <> NEW.facts->>'timeline') EXECUTE FUNCTION punctual_other_server();
"""
DROP = "DROP TRIGGER IF EXISTS {1} ON {0};"


class Migration(migrations.Migration):
    atomic = False  # it waits for one table while it has no other; what is there already is no harm
    dependencies = [("tasks_app", "0081_sieves")]

    operations = [
        migrations.RunSQL(FUNCTIONS, DROP_FUNCTIONS),
        *(
            migrations.RunSQL(BEFORE_THE_FIRST.format(table), DROP.format(table, "punctual_know_server"))
            for table in ("punctual_task", "punctual_outbox")
        ),
        migrations.RunSQL(NOTED, DROP.format("punctual_installation", "punctual_other_server")),
    ]
