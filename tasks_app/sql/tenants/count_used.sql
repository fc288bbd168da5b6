-- count_used: what tenants with a quota of tasks or jobs have of them, noted where it is other than it was. Returns what a tenant
-- has newly come near to.
-- Live tasks are counted in one pass over some pages of the table, or all of it while it has few rows: no index knows whose a
-- task is, and one that did would be paid for by everybody. Of `rows` at most, the rest is reckoned. Pages are drawn, not rows,
-- and those of one tenant lie together: so few pages say little, and a tenant is at its limit when it surely is.
-- Jobs are counted in order of their index: without one, all of them might be read for each tenant.
-- A row that somebody changes right now is left for the next count: nobody waits for another here.
WITH share AS MATERIALIZED (
    SELECT least(1.0, %(rows)s / greatest(there.rows, 1)) AS of_all
    FROM (
--include table_rows
    ) AS there
), counted AS MATERIALIZED (
    SELECT name, max_tasks, max_jobs, tasks, jobs, at_limit, near FROM punctual_tenant
    WHERE max_tasks IS NOT NULL OR max_jobs IS NOT NULL
), live AS MATERIALIZED (
    SELECT t.tenant, count(*)::float8 AS found
    FROM punctual_task t TABLESAMPLE SYSTEM ((SELECT 100 * of_all FROM share))
    WHERE (t.due_at IS NOT NULL OR t.status IN ('RUNNING', 'BLOCKED', 'AWAY'))
      AND EXISTS (SELECT FROM counted WHERE max_tasks IS NOT NULL)
    GROUP BY t.tenant
), used AS MATERIALIZED (
    SELECT c.name, c.max_tasks, c.max_jobs, c.near AS before,
           CASE WHEN c.max_tasks IS NOT NULL THEN round(coalesce(live.found, 0) / share.of_all)::bigint END AS tasks,
           CASE WHEN c.max_jobs IS NOT NULL AND %(with_jobs)s
                THEN (SELECT count(*) FROM (SELECT FROM punctual_job j WHERE j.tenant = c.name
                                             ORDER BY j.task_type, j.name LIMIT c.max_jobs::bigint + 1) AS one)
                ELSE c.jobs END AS jobs,
           coalesce(CASE WHEN share.of_all >= 1 OR live.found IS NULL THEN coalesce(live.found, 0)
                         ELSE live.found / share.of_all * (1 - 3 * sqrt(%(rows_a_page)s / live.found)) END >= c.max_tasks, FALSE) AS at_limit
    FROM counted c CROSS JOIN share LEFT JOIN live ON live.tenant = c.name
), told AS MATERIALIZED (
    SELECT u.*, array_remove(ARRAY[
        CASE WHEN u.tasks >= %(near)s * u.max_tasks THEN 'max_tasks' END,
        CASE WHEN CASE WHEN %(with_jobs)s THEN u.jobs >= %(near)s * u.max_jobs
                       ELSE u.max_jobs IS NOT NULL AND 'max_jobs' = ANY (u.before) END THEN 'max_jobs' END], NULL)
        || ARRAY(SELECT one::text FROM unnest(u.before) AS one WHERE one NOT IN ('max_tasks', 'max_jobs')) AS near
    FROM used u
), other AS MATERIALIZED (
    SELECT t.name, told.tasks, told.jobs, told.at_limit, told.near, told.max_tasks, told.max_jobs, told.before
    FROM punctual_tenant t JOIN told ON told.name = t.name
    WHERE (t.tasks, t.jobs, t.at_limit) IS DISTINCT FROM (told.tasks, told.jobs, told.at_limit)
       OR NOT (t.near @> told.near::varchar[] AND t.near <@ told.near::varchar[])
    ORDER BY t.name
    FOR NO KEY UPDATE OF t SKIP LOCKED
), noted AS (
    UPDATE punctual_tenant t
    SET tasks = o.tasks, jobs = o.jobs, at_limit = o.at_limit, near = o.near
    FROM other o
    WHERE t.name = o.name AND t.max_tasks IS NOT DISTINCT FROM o.max_tasks AND t.max_jobs IS NOT DISTINCT FROM o.max_jobs
    RETURNING t.name, o.tasks, o.jobs, o.max_tasks, o.max_jobs, o.near, o.before
)
SELECT n.name, one.quota, one.max, one.used
FROM noted n
CROSS JOIN LATERAL (VALUES ('max_tasks', n.max_tasks, n.tasks), ('max_jobs', n.max_jobs, n.jobs)) AS one(quota, max, used)
WHERE one.quota = ANY (n.near) AND one.quota <> ALL (n.before)
ORDER BY n.name
