-- walk_planned: what waits of one type in one shard and lane, a page of the due index at a time, and of that the keys
-- for which the caller's own condition holds.
-- WITH TIES: whatever shares its due moment with the last row comes with it, so the next page begins after that moment.
WITH planned AS MATERIALIZED (
    SELECT biz_key AS key, due_at FROM schedule_task
    WHERE shard = %(shard)s AND NOT limited AND lane = %(lane)s AND due_at > coalesce(%(after)s::timestamptz, '-infinity')
      AND task_type = %(task_type)s AND tenant = %(tenant)s
    ORDER BY due_at
    FETCH FIRST (%(page)s::int) ROWS WITH TIES
)
SELECT count(*), max(due_at), coalesce(array_agg(key) FILTER (WHERE
--rows
), '{}')
FROM planned
