-- take_leaving: this partition is ours to write until the lease runs out, unless somebody has it, or it was restored and is
-- to stay. A table that was made anew under the same name is another one, with files of its own.
INSERT INTO punctual_leaving AS l (name, oid, fence, holder, held_until, waiting_since)
SELECT %(name)s::text, to_regclass(%(name)s::text)::oid::bigint, 1, %(holder)s,
       clock_timestamp() + make_interval(secs => %(lease)s), clock_timestamp()
WHERE to_regclass(%(name)s::text) IS NOT NULL
ON CONFLICT (name) DO UPDATE
SET oid = excluded.oid, fence = l.fence + 1, holder = excluded.holder, held_until = excluded.held_until,
    mark = CASE WHEN l.oid = excluded.oid THEN l.mark ELSE gen_random_uuid() END,
    restored = CASE WHEN l.oid = excluded.oid THEN l.restored ELSE '{}' END,
    waiting_since = CASE WHEN l.oid = excluded.oid THEN coalesce(l.waiting_since, excluded.waiting_since)
                         ELSE excluded.waiting_since END
WHERE (l.held_until IS NULL OR l.held_until < clock_timestamp())
  AND (l.oid <> excluded.oid OR l.kept_until IS NULL OR l.kept_until <= clock_timestamp())
RETURNING mark, fence, restored
