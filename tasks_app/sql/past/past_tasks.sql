-- past_tasks: lock_tasks for what is over. There is nothing to lock: nothing will be written to it.
SELECT t.id, t.tenant, t.task_type, t.biz_key, t.status, FALSE, t.current, t.execute_time, TRUE
FROM punctual_past t
WHERE t.id = ANY (%(ids)s::bigint[])
  AND NOT EXISTS (SELECT FROM punctual_audit_entry a WHERE a.operation = %(operation)s AND a.subject = 'task ' || t.id)
ORDER BY t.id
