-- prune_dead_letters: those that were closed long ago, in a small step. One that is open waits for a person, however long.
-- By where they lie, as prune_idempotency has it.
DELETE FROM punctual_dead_letter
WHERE closed_at < now() - make_interval(secs => %(keep)s) AND ctid = ANY (ARRAY(
    SELECT ctid FROM punctual_dead_letter WHERE closed_at < now() - make_interval(secs => %(keep)s)
    ORDER BY closed_at LIMIT %(step)s
))
RETURNING 1
