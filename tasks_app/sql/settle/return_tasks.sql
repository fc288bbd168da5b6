-- return_tasks: RUNNING rows of this batch -> due again at their due time or a little later; no retry used.
-- For tasks that never began (shutdown), and for those that can't be judged here (an unknown type, a call that failed for
-- many).
WITH
--include mark_success.mine
, given AS MATERIALIZED (
    SELECT id, (g ->> 'delay_ms')::bigint * interval '1 millisecond' AS delay, (g ->> 'solo')::bool AS solo,
           g ->> 'code' AS code, g ->> 'reason' AS reason
    FROM (SELECT id, %(given)s::jsonb -> (width_bucket(id, %(ids)s::bigint[]) - 1) AS g FROM mine) AS one
), moved AS (
    UPDATE punctual_task t
    SET status = CASE WHEN t.attempt > 0 THEN 'FAIL' ELSE 'INIT' END, batch_no = NULL,
        due_at = CASE WHEN g.delay IS NULL THEN t.claimed_due ELSE clock_timestamp() + g.delay END,
        solo = t.solo OR g.solo,
        error_code = CASE WHEN g.code = '' THEN t.error_code ELSE g.code END,
        error_msg = CASE WHEN g.code = '' THEN t.error_msg ELSE g.reason END,
        updated_at = clock_timestamp()
    FROM b, given g
    WHERE t.id = g.id AND t.status = 'RUNNING' AND t.batch_no = b.batch_no
    RETURNING t.id
)
--include mark_success.figures
