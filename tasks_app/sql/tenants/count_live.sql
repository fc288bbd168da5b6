-- count_live: the live tasks of these tenants, from some pages of the table, or all of them while it is small: no index knows
-- whose a task is, and one that did would be paid for by everybody.
SELECT tenant, count(*)
FROM punctual_task TABLESAMPLE SYSTEM (%(percent)s)
WHERE tenant = ANY (%(tenants)s::text[]) AND (due_at IS NOT NULL OR status IN ('RUNNING', 'BLOCKED', 'AWAY'))
GROUP BY tenant
