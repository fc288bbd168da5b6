-- audit_trail: each new entry waits for its place in the chain of its tenant. Links stay for 180 days.
CREATE FUNCTION punctual_audit_entry_waits() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO punctual_audit_unchained (entry_id, created_at) SELECT id, created_at FROM added ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER punctual_audit_entry_waits AFTER INSERT ON punctual_audit_entry REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION punctual_audit_entry_waits();

CREATE FUNCTION punctual_audit_link_stays() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF OLD.at < now() - interval '180 days' THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'punctual_audit_link is append-only: % is refused', TG_OP USING ERRCODE = 'restrict_violation';
END $$;

CREATE TRIGGER punctual_audit_link_stays BEFORE DELETE ON punctual_audit_link
    FOR EACH ROW EXECUTE FUNCTION punctual_audit_link_stays();
CREATE TRIGGER punctual_audit_link_unchanged BEFORE UPDATE OR TRUNCATE ON punctual_audit_link
    FOR EACH STATEMENT EXECUTE FUNCTION punctual_audit_link_stays();

-- A trail is sound if the last link that is kept is the one that its head names, with its hash; or if none is kept, and
-- all were kept long enough.
CREATE FUNCTION punctual_trail_sound(whose text) RETURNS boolean
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN last.place IS NULL THEN coalesce(t.place = t.floor_place, TRUE)
                ELSE (last.place, last.hash) = (t.place, t.hash) END IS TRUE
    FROM (VALUES (1)) AS one
    LEFT JOIN punctual_audit_trail t ON t.tenant = whose
    LEFT JOIN LATERAL (
        SELECT place, hash FROM punctual_audit_link k WHERE k.tenant = whose ORDER BY place DESC LIMIT 1
    ) AS last ON TRUE
$$;
