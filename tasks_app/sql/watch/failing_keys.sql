-- failing_keys: the units of one type whose last try failed, by what it failed with: in an index of what failed and waits.
SELECT biz_key FROM punctual_task
WHERE wait_at IS NOT NULL AND error_code > '' AND status = 'FAIL' AND task_type = %(task_type)s AND tenant = %(tenant)s
  AND (%(code)s::text IS NULL OR error_code = %(code)s)
LIMIT %(most)s
