-- lock_tasks: these rows, locked in order of id, so that what an operator's order decides about them stays true.
-- Rows that this operation has dealt with already are left out: a form that is sent twice acts once.
SELECT t.id, t.tenant, t.task_type, t.biz_key, t.status, t.due_at IS NOT NULL, t.current,
--include planned
FROM punctual_task t
WHERE t.id = ANY (%(ids)s::bigint[])
  AND NOT EXISTS (SELECT FROM punctual_audit_entry a WHERE a.operation = %(operation)s AND a.subject = 'task ' || t.id)
ORDER BY t.id
FOR UPDATE OF t
