-- limit_usage: how many tasks of these types are RUNNING, and how many of those were not started. A statement of its own,
-- after lock_limits: its snapshot then has the claims of whoever held the lock before.
-- Counted by batch, so what has left a batch early may be counted until the batch ends: too many, never too few.
SELECT task_type, sum(cardinality(ids) - ok - failed), sum(cardinality(ids)) FILTER (WHERE started_at IS NULL)
FROM task_batch
WHERE finished_at IS NULL AND task_type = ANY (%(types)s::text[])
GROUP BY task_type
