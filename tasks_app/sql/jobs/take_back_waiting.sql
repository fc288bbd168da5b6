-- take_back_waiting: the instances of a job that wait for their parents are gone, with their waits. For a job that is deleted,
-- which nothing waits for. Those that wait for their turn are cancelled, as of any job.
WITH held AS MATERIALIZED (
    SELECT t.id FROM punctual_task t
    WHERE t.job = %(job)s AND t.status = 'BLOCKED' AND EXISTS (SELECT FROM punctual_wait w WHERE w.task = t.id)
    ORDER BY t.id FOR UPDATE
), gone AS (
    DELETE FROM punctual_task t USING held WHERE t.id = held.id AND t.status = 'BLOCKED'
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key
), waits AS (
    DELETE FROM punctual_wait w USING gone WHERE w.task = gone.id
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, g.id, g.tenant, g.task_type, g.biz_key AS key, g.job, g.fire_time, g.idem_key,
           NULL::text AS worker, NULL::uuid AS batch_no, NULL::int AS attempt, NULL::text AS state,
           jsonb_build_object('code', 'TAKEN_BACK', 'reason', 'its job was deleted', 'by', %(by)s::text) AS data, TRUE AS with_data
    FROM gone g
),
--include tell
SELECT count(*) FROM gone
