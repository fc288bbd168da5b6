-- walk_limited: walk_planned for the tasks that are claimed by type; they have an index of their own.
-- WITH TIES: whatever shares its due moment with the last row comes with it, so the next page begins after that moment.
WITH planned AS MATERIALIZED (
    SELECT biz_key AS key, due_at FROM schedule_task
    WHERE limited AND lane = %(lane)s AND due_at > coalesce(%(after)s::timestamptz, '-infinity')
      AND task_type = %(task_type)s AND tenant = %(tenant)s
    ORDER BY due_at
    FETCH FIRST (%(page)s::int) ROWS WITH TIES
)
SELECT count(*), max(due_at), coalesce(array_agg(key) FILTER (WHERE
--rows
), '{}')
FROM planned
