-- mend_budget: tries that count are no more than there were, and than the task has.
UPDATE punctual_task t
SET attempt = least(t.attempt, t.retry_count, CASE WHEN t.retry_for IS NULL THEN t.max_retry + 1 END),
    updated_at = clock_timestamp()
WHERE t.id = ANY (%(ids)s::bigint[])
  AND (t.attempt > t.retry_count OR (t.attempt > t.max_retry + 1 AND t.retry_for IS NULL))
RETURNING t.id
