-- lock_current: the current rows of these units, locked in order of id, so that what is decided next stays true.
SELECT t.tenant, t.task_type, t.biz_key, t.id, t.status, t.due_at IS NOT NULL, t.idem_key, t.job, t.xmin::text
FROM punctual_task t
JOIN unnest(%(tenants)s::text[], %(types)s::text[], %(keys)s::text[]) AS u(tenant, task_type, biz_key)
  ON t.tenant = u.tenant AND t.task_type = u.task_type AND t.biz_key = u.biz_key
WHERE t.current
ORDER BY t.id
FOR UPDATE OF t
