-- run_tasks: the current tasks of a run, each by its unit `job:label`, wherever it lies; with the start of a run that is under way,
-- and the time before which it could not start, whatever it waited for.
SELECT u.job, t.id, t.status, t.task_type, t.lane, t.error_code, t.past,
       CASE WHEN t.status = 'RUNNING' THEN (SELECT b.started_at FROM punctual_batch b WHERE b.batch_no = t.batch_no)
            ELSE t.start_time END,
       CASE WHEN t.status IN ('SUCCESS', 'DEAD', 'CANCELLED') THEN t.finish_time END,
       greatest(t.execute_time, t.created_at)
FROM unnest(%(jobs)s::bigint[]) AS u(job)
CROSS JOIN LATERAL (
    (SELECT id, status, task_type, lane, error_code, batch_no, start_time, finish_time, execute_time, created_at,
            FALSE AS past FROM punctual_task
     WHERE biz_key = u.job || ':' || %(label)s::text AND job = u.job AND current
     LIMIT 1)
    UNION ALL
    (SELECT id, status, task_type, lane, error_code, batch_no, start_time, finish_time, execute_time, created_at,
            TRUE AS past FROM punctual_past
     WHERE biz_key = u.job || ':' || %(label)s::text AND job = u.job AND current
     ORDER BY id DESC
     LIMIT 1)
    LIMIT 1
) AS t
