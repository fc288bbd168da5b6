-- last_claimed: the latest firing of a job that somebody has claimed, of those that are still there.
-- One that was moved to an earlier time may have run before its own: that says nothing of those in between.
-- Read from the newest on (punctual_task_job): after a take_back that is one row, and those that people triggered since.
SELECT (SELECT t.fire_time FROM punctual_any_task t
        WHERE t.job = %(job)s AND (t.execute_time = t.fire_time OR t.fire_time <= (SELECT clock_timestamp()))
          AND t.claimed_due IS NOT NULL
          AND NOT starts_with(t.biz_key, %(manual)s::text) AND NOT starts_with(t.biz_key, %(again)s::text)
        ORDER BY t.fire_time DESC
        LIMIT 1)
