-- discard: DEAD rows that nobody wants any more -> CANCELLED, so that they are over; their dead letters are closed.
WITH dead AS MATERIALIZED (
    SELECT t.id FROM punctual_task t
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.current AND t.status = 'DEAD'
    ORDER BY t.id
    FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', error_code = 'DISCARDED', error_msg = %(reason)s,
        cancelled_by = %(by)s, cancelled_from = %(from)s::text, updated_at = clock_timestamp(),
--include end_of_run
    FROM dead
    WHERE t.id = dead.id AND t.current AND t.status = 'DEAD'
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), closed AS (
    UPDATE punctual_dead_letter d
    SET replay_status = 'CLOSED', closed_at = clock_timestamp(), closed_by = %(by)s
    FROM moved
    WHERE d.task_id = moved.id AND d.replay_status = 'OPEN'
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', 'DISCARDED', 'reason', left(%(reason)s::text, 500), 'by', %(by)s::text) AS data,
           TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id FROM moved
