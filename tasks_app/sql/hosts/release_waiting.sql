-- release_waiting: tasks of this tenant that wait until a host is well, or a safeguard ends: at most `most`, the earliest first, become due
-- after so many seconds each (`after`, by their place; what has a later place, now). None begins before the time that it was asked for.
-- They are found by what their last return has written.
WITH waiting AS MATERIALIZED (
    SELECT t.id, row_number() OVER (ORDER BY t.due_at) AS place
    FROM punctual_task t
    WHERE t.task_type = %(task_type)s AND t.tenant = %(tenant)s AND t.wait_at IS NOT NULL AND t.error_code > ''
      AND t.error_code = %(code)s AND starts_with(t.error_msg, %(words)s)
      AND t.due_at > (SELECT clock_timestamp()) AND t.execute_time <= (SELECT clock_timestamp())
    ORDER BY t.due_at
    LIMIT %(most)s
), mine AS MATERIALIZED (
    SELECT t.id, clock_timestamp() + make_interval(secs => coalesce((%(after)s::float8[])[w.place], 0)) AS due
    FROM punctual_task t JOIN waiting w USING (id)
    ORDER BY t.id
    FOR NO KEY UPDATE OF t SKIP LOCKED
), moved AS (
    UPDATE punctual_task t
    SET due_at = mine.due, updated_at = clock_timestamp()
    FROM mine
    WHERE t.id = mine.id AND t.status IN ('INIT', 'FAIL') AND t.error_code = %(code)s
      AND t.due_at > (SELECT clock_timestamp()) AND t.execute_time <= (SELECT clock_timestamp())
    RETURNING t.shard, t.due_at
)
SELECT shard, date_part('epoch', min(due_at)), count(*) FROM moved GROUP BY shard
