-- prune_outbox: events past their keep, in a small step. Ids grow with time, so the oldest come first.
WITH old AS (
    SELECT id FROM punctual_outbox ORDER BY id LIMIT %(step)s
)
DELETE FROM punctual_outbox e USING old
WHERE e.id = old.id AND e.created_at < now() - make_interval(secs => %(keep)s)
RETURNING 1
