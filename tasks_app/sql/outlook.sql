-- outlook: what waits of one type, by when it is due (step 0 is due already, the last step is everything later) and, if
-- its last try failed, by what it failed with. One pass over what is planned of it.
WITH clock AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), planned AS (
    SELECT due_at, status, error_code FROM schedule_task
    WHERE due_at IS NOT NULL AND limited AND task_type = %(task_type)s AND tenant = %(tenant)s
    UNION ALL
    SELECT due_at, status, error_code FROM schedule_task
    WHERE due_at IS NOT NULL AND NOT limited AND task_type = %(task_type)s AND tenant = %(tenant)s
)
SELECT CASE WHEN due_at <= clock.now THEN 0
            ELSE least(1 + floor(extract(epoch FROM due_at - clock.now) / %(step)s::float8), %(steps)s + 1) END::int,
       CASE WHEN status = 'FAIL' THEN error_code ELSE '' END, count(*)
FROM planned, clock
GROUP BY 1, 2
