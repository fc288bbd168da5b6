-- job_history: the latest instances of a job whose time has come, the newest first, by its own index; of however many there are.
SELECT t.id, t.status, t.fire_time, t.start_time, t.finish_time
FROM punctual_any_task t
WHERE t.job = %(job)s AND t.fire_time <= (SELECT clock_timestamp())
ORDER BY t.fire_time DESC
LIMIT 1000
