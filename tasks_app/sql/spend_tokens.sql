-- spend_tokens: what was just claimed leaves the buckets. Their rows are locked by the caller.
UPDATE type_limit l
SET tokens = least(l.burst, l.tokens + l.rate * extract(epoch FROM clock_timestamp() - l.filled_at)::float8) - s.tasks,
    filled_at = clock_timestamp()
FROM unnest(%(types)s::text[], %(tasks)s::int[]) AS s(task_type, tasks)
WHERE l.task_type = s.task_type AND l.rate IS NOT NULL
