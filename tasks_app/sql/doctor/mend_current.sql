-- mend_current: of a unit without a current row, the newest becomes it. Whether it runs is up to its state, as before.
UPDATE punctual_task t
SET current = TRUE, updated_at = clock_timestamp()
FROM (
    SELECT max(id) AS id FROM punctual_task WHERE id = ANY (%(ids)s::bigint[]) AND NOT current
    GROUP BY tenant, task_type, biz_key
) AS newest
WHERE t.id = newest.id AND NOT t.current
  AND NOT EXISTS (SELECT FROM punctual_task c
                  WHERE c.biz_key = t.biz_key AND c.task_type = t.task_type AND c.tenant = t.tenant AND c.current)
  AND NOT EXISTS (SELECT FROM punctual_past p
                  WHERE p.biz_key = t.biz_key AND p.task_type = t.task_type AND p.tenant = t.tenant AND p.id > t.id)
RETURNING t.id
