-- isolation: what a role may see hangs off a task, job, bulk operation, subscription or channel; new partitions get the
-- policies of their table. The policies need roles, so tasks_app/storage/isolation.py creates them.
CREATE FUNCTION punctual_sees_task(wanted bigint) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN EXISTS (SELECT FROM punctual_task WHERE id = wanted) OR EXISTS (SELECT FROM punctual_past WHERE id = wanted);
END $$;

CREATE FUNCTION punctual_sees_job(wanted bigint) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN EXISTS (SELECT FROM punctual_job WHERE id = wanted);
END $$;

CREATE FUNCTION punctual_sees_campaign(wanted bigint) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN EXISTS (SELECT FROM punctual_campaign WHERE id = wanted);
END $$;

CREATE FUNCTION punctual_sees_subscription(wanted bigint) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN EXISTS (SELECT FROM punctual_subscription WHERE id = wanted);
END $$;

CREATE FUNCTION punctual_sees_channel(wanted bigint) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE SET search_path FROM CURRENT AS $$
BEGIN
    RETURN EXISTS (SELECT FROM punctual_alarm_channel WHERE id = wanted);
END $$;

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

REVOKE EXECUTE ON FUNCTION punctual_isolate(regclass, regclass) FROM PUBLIC;
