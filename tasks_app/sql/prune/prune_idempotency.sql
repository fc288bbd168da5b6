-- prune_idempotency: answers to keyed requests that nobody will repeat any more, in a small step.
DELETE FROM punctual_idempotency_record
WHERE id IN (
    SELECT id FROM punctual_idempotency_record WHERE created_at < now() - make_interval(secs => %(keep)s)
    ORDER BY created_at LIMIT %(step)s
)
RETURNING 1
