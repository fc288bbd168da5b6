"""Row-level security, prepared: who sees what hangs off a task, a job and so on; partitions that are made from now on have
the policies of their table; and the two views ask with the rights of who reads them.

The policies themselves need roles, which not everybody who migrates may make: tasks_app/storage/isolation.py has them.
"""

from importlib import import_module

from django.db import migrations

_PARTITIONS = import_module("tasks_app.migrations.0025_partitions")

PATH = """
SELECT set_config('punctual.path', current_setting('search_path'), TRUE),
       set_config('search_path', relnamespace::regnamespace || ', pg_temp', TRUE)
FROM pg_class WHERE oid = 'punctual_task'::regclass;
"""
BACK = "SELECT set_config('search_path', current_setting('punctual.path'), TRUE);"

# With the rights of who asks: what that role may not see is not there.
_SEES = """
CREATE FUNCTION punctual_sees_{0}(wanted bigint) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN {1};
END $$;
"""
_LOOKS = {
    "task": "EXISTS (SELECT FROM punctual_task WHERE id = wanted) OR EXISTS (SELECT FROM punctual_past WHERE id = wanted)",
    "job": "EXISTS (SELECT FROM punctual_job WHERE id = wanted)",
    "campaign": "EXISTS (SELECT FROM punctual_campaign WHERE id = wanted)",
    "subscription": "EXISTS (SELECT FROM punctual_subscription WHERE id = wanted)",
    "channel": "EXISTS (SELECT FROM punctual_alarm_channel WHERE id = wanted)",
}
SEES = "".join(_SEES.format(name, look) for name, look in _LOOKS.items())
DROP_SEES = "".join(f"DROP FUNCTION punctual_sees_{name}(bigint);" for name in _LOOKS)

# Called by those that make partitions, with their rights. A policy names its columns without their table.
ISOLATE = """
CREATE FUNCTION punctual_isolate(part regclass, family regclass) RETURNS void
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    one record;
BEGIN
    IF NOT (SELECT relrowsecurity FROM pg_class WHERE oid = family) THEN
        RETURN;
    END IF;
    FOR one IN
        SELECT polname, CASE WHEN polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END AS sort,
               (SELECT string_agg(CASE role WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(role)) END, ', ')
                FROM unnest(polroles) AS role) AS roles,
               pg_get_expr(polqual, polrelid) AS rule
        FROM pg_policy WHERE polrelid = family
    LOOP
        EXECUTE format('CREATE POLICY %I ON %s AS %s TO %s USING (%s)', one.polname, part, one.sort, one.roles, one.rule);
    END LOOP;
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', part);
END $$;
"""
MAKE_CLASS = """
CREATE OR REPLACE FUNCTION punctual_make_class(retention text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
BEGIN
    IF retention !~ '^[a-z]{1,20}$' OR retention = 'batch' THEN
        RAISE EXCEPTION 'retention class % must be 1 to 20 small letters, and not batch', retention;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('punctual_partitions', 0));
    IF to_regclass('punctual_past_' || retention) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE punctual_past) PARTITION BY RANGE (updated_at)', 'punctual_past_' || retention);
    PERFORM punctual_isolate(to_regclass('punctual_past_' || retention), 'punctual_past');
    EXECUTE format('ALTER TABLE punctual_past ATTACH PARTITION %I FOR VALUES IN (%L)',
                   'punctual_past_' || retention, retention);
END $$;
"""
_ATTACH = "    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM"
MAKE_PARTITION = _PARTITIONS.FUNCTIONS.replace(
    _ATTACH, f"    PERFORM punctual_isolate(to_regclass(name), family);\n{_ATTACH}"
)
MAKE_CLASS_BEFORE = MAKE_CLASS.replace(
    "    PERFORM punctual_isolate(to_regclass('punctual_past_' || retention), 'punctual_past');\n", ""
)

# Else they would show all rows to whoever may read them: they would ask with the rights of who made them.
VIEWS = """
ALTER VIEW punctual_any_task SET (security_invoker = true);
ALTER VIEW punctual_any_batch SET (security_invoker = true);
"""
VIEWS_BEFORE = """
ALTER VIEW punctual_any_task RESET (security_invoker);
ALTER VIEW punctual_any_batch RESET (security_invoker);
"""
# Back to where nobody knows of policies: those that name the functions go with their tables' protection.
OPEN = """
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT polname, polrelid::regclass AS part FROM pg_policy
               WHERE polname IN ('punctual_open', 'punctual_tenant') LOOP
        EXECUTE format('DROP POLICY %I ON %s', one.polname, one.part);
        EXECUTE format('ALTER TABLE %s NO FORCE ROW LEVEL SECURITY, DISABLE ROW LEVEL SECURITY', one.part);
    END LOOP;
END $$;
"""


class Migration(migrations.Migration):
    dependencies = [("tasks_app", "0064_turns_runs")]

    operations = [
        migrations.RunSQL(
            f"{PATH}{SEES}{ISOLATE}{MAKE_CLASS}{MAKE_PARTITION}"
            f"REVOKE EXECUTE ON FUNCTION punctual_isolate(regclass, regclass) FROM PUBLIC;{BACK}",
            f"{OPEN}{PATH}{MAKE_CLASS_BEFORE}{_PARTITIONS.FUNCTIONS}"
            f"DROP FUNCTION punctual_isolate(regclass, regclass);{DROP_SEES}{BACK}",
        ),
        migrations.RunSQL(VIEWS, VIEWS_BEFORE),
    ]
