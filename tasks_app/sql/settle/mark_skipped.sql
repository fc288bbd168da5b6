-- mark_skipped: RUNNING rows of this batch -> CANCELLED, because the handler skipped them or their deadline has passed.
WITH
--include mark_success.mine
, given AS MATERIALIZED (
    SELECT id, g ->> 'code' AS code, g ->> 'reason' AS reason, (g ->> 'begun')::bigint * interval '1 microsecond' AS begun
    FROM (SELECT id, %(given)s::jsonb -> (width_bucket(id, %(ids)s::bigint[]) - 1) AS g FROM mine) AS one
), moved AS (
    UPDATE punctual_task t
    SET status = 'CANCELLED', batch_no = NULL, ran_in = t.batch_no, error_code = g.code, error_msg = g.reason,
        cancelled_by = 'handler', start_time = b.started_at + g.begun,
        -- The start is told by the worker's clock, which may be a little ahead.
        finish_time = greatest(clock_timestamp(), b.started_at + g.begun),
        updated_at = clock_timestamp()
    FROM b, given g
    WHERE t.id = g.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id, t.tenant, t.task_type, t.biz_key, t.job, t.fire_time, t.idem_key, t.attempt, t.error_code, t.error_msg
), news AS NOT MATERIALIZED (
    SELECT 'task.cancelled' AS event, m.id, m.tenant, m.task_type, m.biz_key AS key, m.job, m.fire_time, m.idem_key,
           (SELECT worker FROM b) AS worker, (SELECT batch_no FROM b) AS batch_no, m.attempt + 1 AS attempt, NULL::text AS state,
           jsonb_build_object('code', m.error_code, 'reason', CASE WHEN starts_with(m.error_msg, '$punctual:1:') THEN 'encrypted'
                                                                   ELSE left(m.error_msg, 500) END,
                              'by', 'handler') AS data, TRUE AS with_data
    FROM moved m
),
--include tell
--include mark_success.figures
