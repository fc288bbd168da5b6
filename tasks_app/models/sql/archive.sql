-- archive: the rows of a partition as three numbers that a reader of the archive can add up, too: their count, and of their
-- keys the sum and the sum of squares. A partition is dropped only if exactly these rows are in the archive.
CREATE FUNCTION punctual_tally(part regclass, key text, OUT number bigint, OUT total numeric, OUT squares numeric)
RETURNS record
LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    moment bool := (SELECT atttypid = 'timestamptz'::regtype FROM pg_attribute WHERE attrelid = part AND attname = key);
BEGIN
    EXECUTE format('SELECT count(*), coalesce(sum(v), 0) %% 18446744073709551616,
                           coalesce(sum((v %% 2147483647) * (v %% 2147483647)), 0) %% 18446744073709551616
                    FROM (SELECT ' || CASE WHEN moment THEN '(extract(epoch FROM %I) * 1000000)::bigint' ELSE '%I' END
                   || ' AS v FROM %s) AS one', key, part) INTO number, total, squares;
END $$;

-- Nothing can be added while it counts. Only the mover of finished tasks waits for that.
CREATE FUNCTION punctual_drop_archived(family regclass, name text, key text, number bigint, total numeric, squares numeric)
RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT SET lock_timeout = '2s' AS $$
BEGIN
    IF NOT starts_with(family::text, 'punctual_')
       OR NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = to_regclass(name) AND inhparent = family) THEN
        RAISE EXCEPTION '% is no partition of %', name, family;
    END IF;
    EXECUTE format('LOCK TABLE %I IN SHARE ROW EXCLUSIVE MODE', name);
    IF NOT EXISTS (SELECT FROM punctual_tally(to_regclass(name), key) AS t
                   WHERE (t.number, t.total, t.squares) = ($4, $5, $6)) THEN
        RETURN FALSE;
    END IF;
    PERFORM punctual_drop_partition(family, name);  -- with what it refuses, and as impatient
    RETURN TRUE;
END $$;

REVOKE EXECUTE ON FUNCTION punctual_drop_archived(regclass, text, text, bigint, numeric, numeric) FROM PUBLIC;
