-- keep_restored: rows of the archive come back into this partition, which stays for a while; no row if somebody writes it to
-- the archive right now. What was restored into it before is told.
INSERT INTO punctual_leaving AS l (name, oid, kept_until)
SELECT %(name)s::text, to_regclass(%(name)s::text)::oid::bigint, clock_timestamp() + make_interval(secs => %(keep)s)
WHERE to_regclass(%(name)s::text) IS NOT NULL
ON CONFLICT (name) DO UPDATE
SET oid = excluded.oid, kept_until = excluded.kept_until, fence = l.fence + 1, error = '', waiting_since = NULL,
    held_until = NULL, holder = '',
    mark = CASE WHEN l.oid = excluded.oid THEN l.mark ELSE gen_random_uuid() END,
    restored = CASE WHEN l.oid = excluded.oid THEN l.restored ELSE '{}' END
WHERE l.held_until IS NULL OR l.held_until < clock_timestamp()
RETURNING mark, fence, restored
