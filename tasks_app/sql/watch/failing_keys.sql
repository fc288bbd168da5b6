-- failing_keys: the units of one type whose last try failed, by what it failed with. No index knows the status, so it is
-- one pass over the table, or less if there are many.
SELECT biz_key FROM punctual_task
WHERE due_at IS NOT NULL AND status = 'FAIL' AND task_type = %(task_type)s AND tenant = %(tenant)s
  AND (%(code)s::text IS NULL OR error_code = %(code)s)
LIMIT %(most)s
