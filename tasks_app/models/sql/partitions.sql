-- partitions: functions that make, tune and drop partitions of our tables, with the rights of their owner: a beat needs no
-- table of its own. They wait 100 ms for a lock at most, since others wait behind them.
-- They find our tables by the search_path of the migration, whatever that of the caller is.
CREATE FUNCTION punctual_make_class(retention text) RETURNS void
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

CREATE FUNCTION punctual_make_partition(family regclass, name text, since timestamptz, until timestamptz) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
DECLARE
    rest regclass := (SELECT inhrelid FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid
                      WHERE inhparent = family AND pg_get_expr(c.relpartbound, c.oid) = 'DEFAULT');
    key name := (SELECT attname FROM pg_partitioned_table p
                 JOIN pg_attribute a ON a.attrelid = p.partrelid AND a.attnum = p.partattrs[0] WHERE p.partrelid = family);
    grows bool := family = 'punctual_audit_entry'::regclass;
BEGIN
    IF NOT starts_with(family::text, 'punctual_') OR NOT starts_with(name, family::text || '_') THEN
        RAISE EXCEPTION '% is no partition of one of our tables', name;
    END IF;
    PERFORM pg_advisory_xact_lock(hashtextextended('punctual_partitions', 0));
    IF to_regclass(name) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE format('CREATE TABLE %I (LIKE %s INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING CONSTRAINTS)', name, family);
    IF rest IS NOT NULL THEN
        IF since < now() + interval '1 minute' THEN
            EXECUTE format('LOCK TABLE %s IN SHARE ROW EXCLUSIVE MODE', family);
        END IF;
        EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', rest);
        IF grows THEN
            EXECUTE format('ALTER TABLE %s DISABLE TRIGGER USER', rest);
        END IF;
        EXECUTE format('WITH late AS (DELETE FROM %1$s WHERE %2$I >= %3$L AND %2$I < %4$L RETURNING *)
                        INSERT INTO %5$I SELECT * FROM late', rest, key, since, until, name);
        IF grows THEN
            EXECUTE format('ALTER TABLE %s ENABLE TRIGGER USER', rest);
        END IF;
    END IF;
    IF grows THEN
        EXECUTE format('CREATE TRIGGER punctual_audit_entry_only_grows BEFORE UPDATE OR DELETE ON %I
                        FOR EACH STATEMENT EXECUTE FUNCTION punctual_audit_entry_only_grows()', name);
        EXECUTE format('CREATE TRIGGER punctual_audit_entry_not_truncated BEFORE TRUNCATE ON %I
                        FOR EACH STATEMENT EXECUTE FUNCTION punctual_audit_entry_only_grows()', name);
    END IF;
    PERFORM punctual_isolate(to_regclass(name), family);
    EXECUTE format('ALTER TABLE %s ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', family, name, since, until);
END $$;

CREATE FUNCTION punctual_drop_partition(family regclass, name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
DECLARE
    until timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('punctual_partitions', 0));
    IF starts_with(name, family::text || '_') AND to_regclass(name) IS NULL THEN
        RETURN;  -- somebody was faster
    END IF;
    SELECT (regexp_match(pg_get_expr(c.relpartbound, c.oid), $re$TO \('([^']+)'\)$re$))[1]::timestamptz INTO until
    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhrelid = to_regclass(name) AND inhparent = family;
    IF NOT starts_with(family::text, 'punctual_') OR until IS NULL THEN
        RAISE EXCEPTION '% is no partition of % that ends', name, family;
    END IF;
    IF family = 'punctual_audit_entry'::regclass AND until > now() - interval '180 days' THEN
        RAISE EXCEPTION 'punctual_audit_entry is append-only: % has entries of the last 180 days', name
            USING ERRCODE = 'restrict_violation';
    END IF;
    EXECUTE format('LOCK TABLE %I IN ACCESS EXCLUSIVE MODE', name);
    EXECUTE format('DROP TABLE %I', name);
END $$;

CREATE FUNCTION punctual_tune_partition(part regclass) RETURNS void
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

REVOKE EXECUTE ON FUNCTION punctual_make_class(text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_make_partition(regclass, text, timestamptz, timestamptz) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_drop_partition(regclass, text) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_tune_partition(regclass) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_analyze(regclass) FROM PUBLIC;

SELECT punctual_make_class('default');
