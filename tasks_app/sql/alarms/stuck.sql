-- stuck: tasks that failed while others wait for their success, each with all that waits for it, directly or through others:
-- how many, the names of the first of their jobs, and for how long.
WITH RECURSIVE failed AS MATERIALIZED (
    SELECT DISTINCT w.parent FROM punctual_wait w WHERE w.ended IN ('CANCELLED', 'DEAD') ORDER BY w.parent LIMIT %(most)s
), first AS MATERIALIZED (
    -- What was replayed or taken over meanwhile is not noted yet; what waits by another rule does not wait in vain.
    SELECT f.parent, w.task
    FROM failed f
    CROSS JOIN LATERAL (SELECT task FROM punctual_wait WHERE parent = f.parent ORDER BY task LIMIT 100000) AS w
    CROSS JOIN LATERAL (SELECT job FROM punctual_task WHERE id = w.task AND status = 'BLOCKED' LIMIT 1) AS t
    CROSS JOIN LATERAL (SELECT FROM punctual_job d WHERE d.id = t.job AND d.run_when = 'all_success' LIMIT 1) AS j
), below(parent, task) AS (
    SELECT parent, task FROM first
    UNION
    SELECT b.parent, w.task FROM below b
    CROSS JOIN LATERAL (SELECT task FROM punctual_wait WHERE parent = b.task ORDER BY task LIMIT 100000) AS w
), named AS MATERIALIZED (
    SELECT b.parent, count(*) AS count, (array_agg(j.name ORDER BY b.task))[1:%(named)s] AS names
    FROM below b
    CROSS JOIN LATERAL (SELECT job FROM punctual_task WHERE id = b.task LIMIT 1) AS t
    CROSS JOIN LATERAL (SELECT name FROM punctual_job WHERE id = t.job LIMIT 1) AS j
    GROUP BY b.parent
)
SELECT p.tenant, p.task_type, p.job, p.id, p.biz_key, p.status, coalesce(j.name, p.biz_key), n.count, n.names,
       date_part('epoch', clock_timestamp() - p.updated_at)
FROM named n
CROSS JOIN LATERAL (
    (SELECT id, tenant, task_type, job, biz_key, status, updated_at FROM punctual_task WHERE id = n.parent LIMIT 1)
    UNION ALL
    (SELECT id, tenant, task_type, job, biz_key, status, updated_at FROM punctual_past WHERE id = n.parent LIMIT 1)
    LIMIT 1
) AS p
LEFT JOIN LATERAL (SELECT name FROM punctual_job WHERE id = p.job LIMIT 1) AS j ON TRUE
WHERE p.status IN ('CANCELLED', 'DEAD')
