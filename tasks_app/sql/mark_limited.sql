-- mark_limited: tasks that were planned before their type got its limit are claimed by type from now on. A step a call.
WITH few AS (
    SELECT id FROM schedule_task
    WHERE task_type = %(type)s AND NOT limited AND id > %(after)s AND current
    ORDER BY id
    LIMIT %(step)s
    FOR NO KEY UPDATE
), moved AS (
    UPDATE schedule_task t SET limited = TRUE FROM few WHERE t.id = few.id
)
SELECT max(id) FROM few
