-- cancel_waiting: a job is deleted. What still waits for its turn is cancelled: without the job nobody would give it one, and
-- it must not run over what is under way. The caller has locked the job.
WITH gone AS (
    DELETE FROM punctual_turn WHERE job = %(job)s RETURNING task
), waiting AS MATERIALIZED (
    SELECT t.id FROM punctual_task t
    WHERE t.id = ANY (ARRAY(SELECT task FROM gone)) AND t.status = 'BLOCKED'
    ORDER BY t.id
    FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', error_code = 'JOB_DELETED', error_msg = 'its job was deleted while it waited for its turn',
        cancelled_by = %(by)s, updated_at = clock_timestamp(),
--include end_of_run
    FROM waiting
    WHERE t.id = waiting.id AND t.status = 'BLOCKED'
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.error_code, t.error_msg
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', m.error_code, 'reason', m.error_msg, 'by', %(by)s::text) AS data, TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id FROM moved
