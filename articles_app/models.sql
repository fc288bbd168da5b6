-- An article's page has room for its next version; its history can only grow.
ALTER TABLE article SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05);

CREATE FUNCTION article_event_only_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'article_event is append-only: % is refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER article_event_only_grows BEFORE UPDATE OR DELETE ON article_event
    FOR EACH STATEMENT EXECUTE FUNCTION article_event_only_grows();
CREATE TRIGGER article_event_not_truncated BEFORE TRUNCATE ON article_event
    FOR EACH STATEMENT EXECUTE FUNCTION article_event_only_grows();
