-- release_waiting: tasks of this tenant that wait until a host is well -> due now, at most `most`, the earliest first.
-- They are found by what their last return has written. None begins before the time that it was asked for.
WITH waiting AS MATERIALIZED (
    SELECT t.id
    FROM punctual_task t
    WHERE t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.wait_at IS NOT NULL AND t.error_code > ''
      AND t.error_code = %(code)s AND starts_with(t.error_msg, %(words)s)
      AND t.due_at > (SELECT clock_timestamp()) AND t.execute_time <= (SELECT clock_timestamp())
    ORDER BY t.due_at
    LIMIT %(most)s
), mine AS MATERIALIZED (
    SELECT t.id FROM punctual_task t JOIN waiting USING (id)
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
), moved AS (
    UPDATE punctual_task t
    SET due_at = clock_timestamp(), updated_at = clock_timestamp()
    FROM mine
    WHERE t.id = mine.id AND t.status IN ('INIT', 'FAIL') AND t.error_code = %(code)s
      AND t.due_at > (SELECT clock_timestamp()) AND t.execute_time <= (SELECT clock_timestamp())
    RETURNING t.shard, t.due_at
)
SELECT shard, date_part('epoch', min(due_at)), count(*) FROM moved GROUP BY shard
