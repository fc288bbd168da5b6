-- record_window: the next window. If somebody else was faster, nothing: what we have seen is in theirs, or comes with ours
-- next time.
INSERT INTO punctual_outbox_window (no, before, after, floor_id, min_id, max_id, min_at, max_at, count, tenants, topics, system)
VALUES (%(no)s::bigint, %(before)s, %(after)s, %(floor_id)s::bigint, %(min_id)s::bigint, %(max_id)s::bigint, %(min_at)s, %(max_at)s, %(count)s::bigint,
        %(tenants)s::jsonb, %(topics)s::jsonb, %(system)s::bigint)
ON CONFLICT DO NOTHING
RETURNING no
