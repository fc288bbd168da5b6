-- numbers: no id of a task or event is used twice, even after a failover to a standby that had not received the last ones.
-- Before a session takes its first id, it compares its server with the recorded one; on another server it skips a million.
CREATE FUNCTION punctual_skip_numbers() RETURNS void
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
    RETURN NEW;
END $$;

REVOKE EXECUTE ON FUNCTION punctual_skip_numbers() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_know_server() FROM PUBLIC;
REVOKE EXECUTE ON FUNCTION punctual_other_server() FROM PUBLIC;

CREATE TRIGGER punctual_know_server BEFORE INSERT ON punctual_task FOR EACH STATEMENT
WHEN (coalesce(current_setting('punctual.knows_server', TRUE), '') = '') EXECUTE FUNCTION punctual_know_server();
CREATE TRIGGER punctual_know_server BEFORE INSERT ON punctual_outbox FOR EACH STATEMENT
WHEN (coalesce(current_setting('punctual.knows_server', TRUE), '') = '') EXECUTE FUNCTION punctual_know_server();
CREATE TRIGGER punctual_other_server BEFORE UPDATE OF facts ON punctual_installation FOR EACH ROW
WHEN (OLD.facts->>'timeline' <> NEW.facts->>'timeline') EXECUTE FUNCTION punctual_other_server();
