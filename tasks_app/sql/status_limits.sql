-- status_limits: the limits in force, what is left in their buckets, and how many tasks are running and due.
SELECT l.task_type, l.rate, l.burst, l.max_running,
       least(l.burst, l.tokens + l.rate * extract(epoch FROM clock_timestamp() - l.filled_at)::float8),
       (SELECT coalesce(sum(cardinality(b.ids) - b.ok - b.failed), 0)::bigint FROM task_batch b
        WHERE b.finished_at IS NULL AND b.task_type = l.task_type),
       (SELECT count(*) FROM schedule_task t
        WHERE t.limited AND t.task_type = l.task_type AND t.due_at <= (SELECT clock_timestamp()))
FROM type_limit l
WHERE l.rate IS NOT NULL OR l.max_running IS NOT NULL
ORDER BY l.task_type
