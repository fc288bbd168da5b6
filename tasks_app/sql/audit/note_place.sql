-- note_place: how far a place for anchors has got, or why it got nothing.
INSERT INTO punctual_audit_place AS p (place, sent_no, sent_at, tried_at, failing_since, error)
VALUES (%(place)s, %(sent_no)s, CASE WHEN %(sent)s::bool THEN clock_timestamp() END, clock_timestamp(),
        CASE WHEN %(error)s <> '' THEN clock_timestamp() END, %(error)s)
ON CONFLICT (place) DO UPDATE
SET sent_no = greatest(p.sent_no, excluded.sent_no), sent_at = coalesce(excluded.sent_at, p.sent_at),
    tried_at = excluded.tried_at, error = excluded.error,
    failing_since = CASE WHEN excluded.error = '' THEN NULL ELSE coalesce(p.failing_since, excluded.failing_since) END
RETURNING sent_no
