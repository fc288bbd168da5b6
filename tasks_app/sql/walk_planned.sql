-- walk_planned: the keys of one type that wait in one shard and lane, a page of the due index at a time.
-- WITH TIES: whatever shares its due moment with the last row comes with it, so the next page begins after that moment.
SELECT biz_key, due_at FROM schedule_task
WHERE shard = %(shard)s AND lane = %(lane)s AND due_at > coalesce(%(after)s::timestamptz, '-infinity')
  AND task_type = %(task_type)s AND tenant = %(tenant)s
ORDER BY due_at
FETCH FIRST (%(page)s::int) ROWS WITH TIES
