-- replay: a DEAD row that is still its unit's current one -> INIT with a new budget; its dead letter is closed.
WITH dead AS MATERIALIZED (
    SELECT t.id FROM punctual_task t
    WHERE t.id = ANY (%(ids)s::bigint[]) AND t.current AND t.status = 'DEAD'
    ORDER BY t.id
    FOR NO KEY UPDATE
), moved AS (
    UPDATE punctual_task t
    SET status = 'INIT', attempt = 0, execute_time = clock_timestamp(), due_at = clock_timestamp(),
        updated_at = clock_timestamp()
    FROM dead
    WHERE t.id = dead.id AND t.current AND t.status = 'DEAD'
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), closed AS (
    UPDATE punctual_dead_letter d
    SET replay_status = 'REPLAYED', closed_at = clock_timestamp(), closed_by = %(by)s
    FROM moved
    WHERE d.task_id = moved.id AND d.replay_status = 'OPEN'
), news AS NOT MATERIALIZED (
    SELECT 'task.replayed' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('by', %(by)s::text) AS data, TRUE AS with_data
    FROM moved m
),
--include tell
SELECT id, job FROM moved
