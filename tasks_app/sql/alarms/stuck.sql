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
SELECT coalesce(p.tenant, w.tenant), coalesce(p.task_type, w.task_type), CASE WHEN p.id IS NULL THEN w.job ELSE p.job END,
       n.parent, coalesce(p.biz_key, w.biz_key), coalesce(p.status, w.ended),
       coalesce(j.name, p.biz_key, 'task ' || n.parent), n.count, n.names,
       date_part('epoch', clock_timestamp() - coalesce(p.updated_at, w.updated_at))
FROM named n
LEFT JOIN LATERAL (
    (SELECT id, tenant, task_type, job, biz_key, status, updated_at FROM punctual_task WHERE id = n.parent LIMIT 1)
    UNION ALL
    (SELECT id, tenant, task_type, job, biz_key, status, updated_at FROM punctual_past WHERE id = n.parent LIMIT 1)
    LIMIT 1
) AS p ON TRUE
-- Of one that is kept nowhere any more, what was noted of it, and who waits for it.
LEFT JOIN LATERAL (
    SELECT t.tenant, t.task_type, t.job, t.biz_key, t.updated_at, one.ended
    FROM punctual_wait one
    CROSS JOIN LATERAL (SELECT * FROM punctual_task WHERE id = one.task LIMIT 1) AS t
    WHERE one.parent = n.parent AND p.id IS NULL
    ORDER BY one.task LIMIT 1
) AS w ON TRUE
LEFT JOIN LATERAL (SELECT name FROM punctual_job WHERE id = p.job LIMIT 1) AS j ON TRUE
WHERE coalesce(p.status, w.ended) IN ('CANCELLED', 'DEAD')
