-- compare_keys: the keys of the caller's own rows against what waits of one type: how many there are, which of them
-- nothing waits for (RUNNING ones among them: the caller looks at those again), and what waits without being wanted.
-- One join over both, in whatever way PostgreSQL's planner likes best, so that a million on each side take one statement.
SELECT count(w.key), coalesce(array_agg(w.key) FILTER (WHERE p.key IS NULL), '{}'),
       coalesce(array_agg(p.key) FILTER (WHERE w.key IS NULL), '{}')
FROM (
--rows
) AS w(key)
FULL JOIN (
    SELECT biz_key FROM punctual_task
    WHERE wait_at IS NOT NULL AND limited AND task_type = %(task_type)s AND tenant = %(tenant)s
    UNION ALL
    SELECT biz_key FROM punctual_task
    WHERE due_at IS NOT NULL AND NOT limited AND task_type = %(task_type)s AND tenant = %(tenant)s
) AS p(key) ON p.key = w.key
