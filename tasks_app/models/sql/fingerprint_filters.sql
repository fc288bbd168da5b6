-- fingerprint_filters: which units a partition of the past may hold. Beats make the filters, one by one.
-- A mark is a hash; its low bits are the print, the others name its bucket. A bucket has some 500 prints of two bytes, which
-- do not compress. Later marks have rows of their own: writing a bucket again for each would make bulk inserts wait.
CREATE TABLE punctual_sieve_part (
    sieve bigint NOT NULL REFERENCES punctual_sieve (id) ON DELETE CASCADE,
    bucket integer NOT NULL,
    prints smallint[] NOT NULL,
    PRIMARY KEY (sieve, bucket)
);
ALTER TABLE punctual_sieve_part ALTER prints SET STORAGE EXTERNAL;
-- It is empty most of the time, and a plan from then would read all of it once many rows have arrived.
CREATE TABLE punctual_sieve_late (sieve bigint NOT NULL, mark bigint NOT NULL)
    WITH (autovacuum_analyze_threshold = 50, autovacuum_analyze_scale_factor = 0.1);
CREATE INDEX punctual_sieve_late_mark ON punctual_sieve_late (mark, sieve);

CREATE FUNCTION punctual_unit_mark(tenant text, task_type text, biz_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended((tenant || chr(31) || task_type || chr(31) || biz_key) COLLATE "C", 1);

CREATE FUNCTION punctual_idem_mark(tenant text, idem_key text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended((tenant || chr(31) || idem_key) COLLATE "C", 2);

CREATE FUNCTION punctual_print(mark bigint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((mark & 65535) - 32768)::smallint;

CREATE FUNCTION punctual_bucket(mark bigint, buckets integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((mark >> 16 & 140737488355327) % buckets)::integer;

-- The trigger is made under a lock that waits for all writers of the partition. So whatever it did not see is committed, and
-- punctual_fill_sieve() reads it.
CREATE FUNCTION punctual_add_to_sieve() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        -- It sees the sieve of before if that was made anew meanwhile; then this fails.
        PERFORM FROM punctual_sieve s WHERE s.name = TG_TABLE_NAME FOR KEY SHARE;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the sieve of % was begun after this transaction', TG_TABLE_NAME
                USING ERRCODE = 'serialization_failure', HINT = 'Try again.';
        END IF;
    END IF;
    INSERT INTO punctual_sieve_late (sieve, mark)
    SELECT s.id, mark
    FROM punctual_sieve s
    CROSS JOIN unnest(ARRAY[punctual_unit_mark(NEW.tenant, NEW.task_type, NEW.biz_key),
                            punctual_idem_mark(NEW.tenant, NEW.idem_key)]) AS mark
    WHERE s.name = TG_TABLE_NAME AND mark IS NOT NULL;
    RETURN NULL;
END $$;

CREATE FUNCTION punctual_begin_sieve(name text, buckets integer) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '100ms' AS $$
DECLARE
    part record;
    made bigint;
BEGIN
    SELECT c.oid, k.relname AS class, pg_get_expr(c.relpartbound, c.oid) AS bound INTO part
    FROM pg_class c
    JOIN pg_inherits i ON i.inhrelid = c.oid
    JOIN pg_inherits j ON j.inhrelid = i.inhparent AND j.inhparent = 'punctual_past'::regclass
    JOIN pg_class k ON k.oid = i.inhparent
    WHERE c.oid = to_regclass(name);
    IF part IS NULL AND starts_with(name, 'punctual_past_') AND to_regclass(name) IS NULL THEN
        RETURN NULL;  -- somebody has dropped it
    END IF;
    IF part IS NULL THEN
        RAISE EXCEPTION '% is no partition of the past', name;
    END IF;
    IF EXISTS (SELECT FROM punctual_sieve s
               WHERE s.oid = part.oid AND NOT s.ready AND s.begun_at BETWEEN now() - interval '30 minutes' AND now()) THEN
        RETURN NULL;  -- somebody is filling it
    END IF;
    EXECUTE format('CREATE OR REPLACE TRIGGER punctual_sieve
        AFTER INSERT OR UPDATE OF tenant, task_type, biz_key, idem_key ON %I
        FOR EACH ROW EXECUTE FUNCTION punctual_add_to_sieve()', name);
    EXECUTE format('ALTER TABLE %I ENABLE ALWAYS TRIGGER punctual_sieve', name);
    DELETE FROM punctual_sieve s WHERE s.name = $1;
    INSERT INTO punctual_sieve (name, oid, retention, since, until, buckets)
    VALUES (name, part.oid, substr(part.class, length('punctual_past_') + 1),
            (regexp_match(part.bound, $re$FROM \('([^']+)'\)$re$))[1]::timestamptz,
            (regexp_match(part.bound, $re$TO \('([^']+)'\)$re$))[1]::timestamptz, buckets)
    RETURNING id INTO made;
    RETURN made;
END $$;

CREATE FUNCTION punctual_fill_sieve(made bigint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    whose record;
BEGIN
    SELECT s.oid::oid::regclass AS part, s.buckets INTO STRICT whose FROM punctual_sieve s WHERE s.id = made;
    IF to_regrole('punctual_web') IS NOT NULL AND pg_has_role(current_user, to_regrole('punctual_web'), 'USAGE')
       AND NOT (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) THEN
        RAISE EXCEPTION '% sees the rows of one tenant only, and can fill no sieve', current_user
            USING HINT = format('REVOKE punctual_web FROM %I', current_user);
    END IF;
    EXECUTE format('
        INSERT INTO punctual_sieve_part (sieve, bucket, prints)
        SELECT $1, bucket, ARRAY(SELECT DISTINCT unnest(prints))
        FROM (
            SELECT punctual_bucket(mark, $2) AS bucket, array_agg(punctual_print(mark)) AS prints
            FROM %s AS p
            CROSS JOIN LATERAL unnest(ARRAY[punctual_unit_mark(p.tenant, p.task_type, p.biz_key),
                                            punctual_idem_mark(p.tenant, p.idem_key)]) AS mark
            WHERE mark IS NOT NULL
            GROUP BY 1
        ) AS one', whose.part) USING made, whose.buckets;
END $$;

REVOKE EXECUTE ON FUNCTION punctual_add_to_sieve() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_begin_sieve(text, integer) FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_fill_sieve(bigint) FROM PUBLIC;
