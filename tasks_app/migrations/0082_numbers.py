"""No number of a task or an event is given out twice, also where a standby was promoted that didn't know them all.

Whoever has seen a number would take another task, or another event, for it. So before a session draws its first, it
looks whether its server is the one that is noted; and who notes another one skips as many, too.
"""

from django.db import migrations

# A session never leaves its server, so one look is enough for each. Numbers that are drawn twice as often are no harm:
# until somebody notes the new server, each session skips some.
FUNCTIONS = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;

CREATE FUNCTION punctual_skip_numbers() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    -- More than any standby lags behind that is promoted; there are numbers for nine trillion failovers.
    PERFORM setval(s.name, nextval(s.name) + 1000000)
    FROM unnest(ARRAY[pg_get_serial_sequence('punctual_task', 'id'), pg_get_serial_sequence('punctual_outbox', 'id')])
         AS s(name);
END $$;

CREATE FUNCTION punctual_know_server() RETURNS trigger
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

CREATE FUNCTION punctual_other_server() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM punctual_skip_numbers();
    RETURN NULL;
END $$;

REVOKE EXECUTE ON FUNCTION punctual_skip_numbers() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_know_server() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_other_server() FROM PUBLIC;
SELECT set_config('search_path', current_setting('punctual.path'), TRUE);
"""
DROP_FUNCTIONS = """
DROP FUNCTION punctual_other_server();
DROP FUNCTION punctual_know_server();
DROP FUNCTION punctual_skip_numbers();
"""

DRAWN_FROM = ("punctual_task", "punctual_outbox")
UNKNOWN = "coalesce(current_setting('punctual.knows_server', TRUE), '') = ''"
TRIGGERS = "".join(
    f"CREATE TRIGGER punctual_know_server BEFORE INSERT ON {table} FOR EACH STATEMENT"
    f" WHEN ({UNKNOWN}) EXECUTE FUNCTION punctual_know_server();\n"
    for table in DRAWN_FROM
)
NOTED = """
CREATE TRIGGER punctual_other_server AFTER UPDATE OF facts ON punctual_installation FOR EACH ROW
WHEN (OLD.facts->>'timeline' <> NEW.facts->>'timeline') EXECUTE FUNCTION punctual_other_server();
"""
DROP_TRIGGERS = "".join(f"DROP TRIGGER punctual_know_server ON {table};\n" for table in DRAWN_FROM)
DROP_NOTED = "DROP TRIGGER punctual_other_server ON punctual_installation;"


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0081_sieves")]

    operations = [
        migrations.RunSQL(FUNCTIONS, DROP_FUNCTIONS),
        migrations.RunSQL(TRIGGERS, DROP_TRIGGERS),
        migrations.RunSQL(NOTED, DROP_NOTED),
    ]
