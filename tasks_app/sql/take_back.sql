-- take_back: scheduled instances of a job that nobody has claimed yet are gone, as if they had never been planned.
-- One that is being claimed right now is waited for, and then it is RUNNING and stays. What was triggered by hand
-- stays, and so does what a person replayed: it has failed before.
WITH gone AS (
    DELETE FROM schedule_task t
    WHERE t.job = %(job)s AND t.status = 'INIT' AND t.retry_count = 0
      AND t.biz_key NOT LIKE %(job)s || ':m:%%'
    RETURNING t.fire_time
)
SELECT count(*), min(fire_time) FROM gone
