-- prune_idempotency: answers to keyed requests that nobody will repeat any more, in a small step. By where they lie: a join
-- with as many rows as PostgreSQL's planner expects of a LIMIT that it doesn't know would read the whole table.
DELETE FROM punctual_idempotency_record
WHERE created_at < now() - make_interval(secs => %(keep)s) AND ctid = ANY (ARRAY(
    SELECT ctid FROM punctual_idempotency_record WHERE created_at < now() - make_interval(secs => %(keep)s)
    ORDER BY created_at LIMIT %(step)s
))
RETURNING 1
