-- note_chores: what became of chores: done, or failed with this error.
UPDATE punctual_chore
SET done_at = CASE WHEN %(failed)s THEN done_at ELSE clock_timestamp() END,
    failures = CASE WHEN %(failed)s THEN failures + 1 ELSE 0 END,
    failing_since = CASE WHEN %(failed)s THEN coalesce(failing_since, clock_timestamp()) END,
    error = %(error)s
WHERE name = ANY (%(names)s::text[])
