-- differing: which of these units have no live task, or one that is planned for another time.
-- A RUNNING one is left out whatever its time: it settles by itself, and what is then left is seen by the next look.
SELECT u.key, t.id, t.status, t.execute_time, t.error_code, t.cancelled_by,
       coalesce(t.due_at IS NOT NULL OR t.status = 'BLOCKED', FALSE)
FROM unnest(%(keys)s::text[], %(ats)s::timestamptz[]) AS u(key, at)
LEFT JOIN schedule_task t
  ON t.biz_key = u.key AND t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.current
WHERE t.id IS NULL
   OR (t.status <> 'RUNNING' AND (t.execute_time <> u.at OR (t.due_at IS NULL AND t.status <> 'BLOCKED')))
