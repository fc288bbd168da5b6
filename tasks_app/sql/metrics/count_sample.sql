-- count_sample: live tasks by type, tenant, lane and state, from some pages of the table. For what no index can count.
-- A rolling task that has succeeded is scheduled again.
SELECT task_type, tenant, lane, state, count(*)
FROM (SELECT clock_timestamp() AS at) AS now
CROSS JOIN LATERAL (
    SELECT t.task_type, t.tenant, t.lane,
           CASE WHEN t.due_at IS NOT NULL AND t.status = 'FAIL' THEN 'retrying' WHEN t.due_at <= now.at THEN 'due'
                WHEN t.due_at IS NOT NULL THEN 'scheduled' ELSE lower(t.status) END AS state
    FROM punctual_task t TABLESAMPLE SYSTEM (%(percent)s)
    WHERE (t.due_at IS NOT NULL OR t.status IN ('RUNNING', 'BLOCKED', 'AWAY')) AND t.task_type <> %(canary)s
) AS live
GROUP BY task_type, tenant, lane, state
