-- waiting_keys: how much waits of one type, and of that the keys that are among the caller's own rows.
-- One pass over what is scheduled, whatever its type: only tasks with a limit have an index that names the type, since
-- every claim would pay for it.
WITH waiting AS MATERIALIZED (
    SELECT biz_key AS key FROM punctual_task
    WHERE due_at IS NOT NULL AND NOT limited AND task_type = %(task_type)s AND tenant = %(tenant)s
    UNION ALL
    SELECT biz_key FROM punctual_task
    WHERE wait_at IS NOT NULL AND limited AND task_type = %(task_type)s AND tenant = %(tenant)s
)
SELECT count(*), coalesce(array_agg(key) FILTER (WHERE
--rows
), '{}')
FROM waiting
