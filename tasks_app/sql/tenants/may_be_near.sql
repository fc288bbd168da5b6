-- may_be_near: whether count_used has to count now. It does if by some pages, fewer than it reads, a tenant may be near its quota of
-- tasks; or if one was near it, or was never counted, or has a quota so small that its tasks may be on none of those pages.
-- A table that has few rows is counted anyway.
WITH share AS MATERIALIZED (
    SELECT least(1.0, %(rows)s / greatest(there.rows, 1)) AS of_all
    FROM (
--include table_rows
    ) AS there
), bounded AS MATERIALIZED (
    SELECT name, max_tasks, tasks IS NULL OR at_limit OR 'max_tasks' = ANY (near) AS sure
    FROM punctual_tenant WHERE max_tasks IS NOT NULL
)
SELECT EXISTS (SELECT FROM bounded)
       AND ((SELECT of_all FROM share) >= 1
            OR EXISTS (SELECT FROM bounded b, share s
                       WHERE b.sure OR %(near)s * b.max_tasks < 3 * %(rows_a_page)s / s.of_all)
            OR EXISTS (
                SELECT FROM (
                    SELECT t.tenant, count(*)::float8 AS found
                    FROM punctual_task t TABLESAMPLE SYSTEM ((SELECT 100 * of_all FROM share))
                    WHERE t.due_at IS NOT NULL OR t.status IN ('RUNNING', 'BLOCKED', 'AWAY')
                    GROUP BY t.tenant
                ) AS live
                JOIN bounded b ON b.name = live.tenant
                CROSS JOIN share
                WHERE live.found / share.of_all * (1 + 3 * sqrt(%(rows_a_page)s / live.found)) >= %(near)s * b.max_tasks))
